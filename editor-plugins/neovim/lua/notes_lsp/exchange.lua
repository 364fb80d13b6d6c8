-- Notes in and out of files, copies, and meetings with their items.

local api = vim.api
local say = require("notes_lsp.say")
local view = require("notes_lsp.view")
local service = require("notes_lsp.service")
local note_of = require("notes_lsp.note")
local condition = require("notes_lsp.condition")
local files = require("notes_lsp.files")
local refresh = view.refresh

-- Adds the verbs to `M`. `ask` sends a request and tells its error; `sees` has parts of the commands.
return function(M, ask, choose, sees)
  local choose_text, current, titled = sees.choose_text, sees.current, sees.titled

  local function absolute(path) return (vim.fn.fnamemodify(vim.fn.expand(path), ":p"):gsub("(.)/$", "%1")) end

  -- Of a document that another program has made, the person chooses the text to edit.
  function M.ask_choosing(method, params, done)
    service.request(method, params, function(answer)
      local function again(path) M.ask_choosing(method, { path = params.path, text = path }, done) end
      if choose_text(answer, again) then return end
      if answer.error then return say.warn(answer.error.message) end
      say.when_free(function() done(answer.result or {}) end)
    end)
  end

  function M.import(path)
    say.news("Importing…")
    M.ask_choosing("notes/import", { path = absolute(path) }, function(result)
      files.open(result)
      refresh()
      local count, title = #(result.notes or {}), vim.fn.fnamemodify(result.path or "", ":t:r")
      if count > 1 then
        say.news((":Notes lists the %d imported notes"):format(count))
      elseif result.known then
        say.news(('"%s" is here already; merged %s'):format(title, condition.counted(result.changes, "new change")))
      else
        say.news(('Imported "%s"'):format(title))
      end
      local failed = result.failed or {}
      for _, one in ipairs(failed) do say.remember(one.path .. ": " .. one.message) end
      if #failed > 0 then say.warn((":NotesLog says why %s could not be imported"):format(condition.counted(#failed, "file"))) end
    end)
  end

  local formats = { "markdown", "automerge", "automerge-repo", "json", "meetingnotes" }
  local endings = { "automerge", "meetingnotes", "md", "markdown", "txt", "json" }

  -- The file's ending says what it is; a directory is one of automerge-repo. Where the name says nothing, the user chooses.
  function M.export(path, is_forced, format)
    local note = current()
    if not note then return end
    local params = { uri = note.uri, path = absolute(path), replace = is_forced, format = format }
    if vim.fn.isdirectory(params.path) == 1 or path:find("/$") then
      params.format = "automerge-repo"
    elseif not format and not vim.tbl_contains(endings, vim.fn.fnamemodify(path, ":e"):lower()) then
      return choose(formats, "Export " .. vim.fn.fnamemodify(path, ":t") .. " as", function(it) return it end, function(it)
        M.export(path, is_forced, it)
      end)
    end
    service.request("notes/export", params, function(answer)
      if answer.error and (answer.error.data or {}).kind == "conflict" then
        return say.warn(vim.fn.fnamemodify(params.path, ":t") .. " exists already; :NotesExport! replaces it")
      end
      if answer.error then return say.warn(answer.error.message) end
      say.news("Exported to " .. vim.fn.fnamemodify(answer.result.path, ":~:."))
    end)
  end

  function M.merge(path)
    local note = current()
    if not note then return end
    ask("notes/merge", { uri = note.uri, path = absolute(path) }, function(result)
      say.news("Merged " .. condition.counted(result.changes, "new change"))
    end)
  end

  function M.copy(given)
    local note, lines = note_of.of(), api.nvim_buf_get_lines(0, 0, -1, true)
    local title = given ~= "" and given or vim.fn.expand("%:t:r") .. " copy"
    local is_note = note and note.id ~= ""
    ask(is_note and "notes/copy" or "notes/create",
      { title = title, uri = is_note and note.uri or nil, text = not is_note and table.concat(lines, "\n") or nil },
      function(result)
        files.open(result)
        say.news('Copied to "' .. title .. '", which is yours alone')
      end)
  end

  function M.item(given)
    local target = view.target()
    local note = not target.id and current()
    if not target.id and not note then return end
    local function of(more) return vim.tbl_extend("force", { uri = note and note.uri or nil, id = target.id }, more) end
    local function add()
      titled(given, "Title of the item: ", function(title) ask("notes/addItem", of { title = title }, files.open) end)
    end
    -- Where there is no agenda, that is said before a title is asked for.
    if given ~= "" then add() else ask("notes/items", of {}, add) end
  end

  -- Puts the current buffer's item at this place of the agenda, counted from 1.
  function M.move_item(place)
    local note = current()
    if not note then return end
    if not place:find("^[1-9]%d*$") then return say.warn(":NotesMoveItem 2 moves it to the second place") end
    ask("notes/moveItem", { uri = note.uri, position = tonumber(place) - 1 }, function(result)
      say.news("Agenda: " .. table.concat(vim.tbl_map(function(it) return it.title end, result.items or {}), ", "))
    end)
  end

  function M.meeting(given)
    titled(given, "Title of the meeting: ", function(title)
      ask("notes/create", { title = title, kind = "meeting" }, function(result) M.agenda_of({ id = result.id }) end)
    end)
  end
end
