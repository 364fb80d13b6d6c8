-- Notes in and out of files, copies, and meetings with their items.

local api = vim.api
local say = require("notes_lsp.say")
local service = require("notes_lsp.service")
local note_of = require("notes_lsp.note")
local files = require("notes_lsp.files")
local refresh = require("notes_lsp.view").refresh

-- Adds the verbs to `M`. `ask` sends a request and tells its error; `sees` has parts of the commands.
return function(M, ask, choose, sees)
  local choose_text, current = sees.choose_text, sees.current

  -- Of a document that another program has made, the person chooses the text to edit. `done` gets the user's keys as they were
  -- after that.
  function M.ask_choosing(method, params, done)
    local keys = say.keys()
    service.request(method, params, function(answer)
      local function again(path) M.ask_choosing(method, { path = params.path, text = path }, done) end
      if choose_text(answer, again, keys) then return end
      if answer.error then return say.warn(answer.error.message) end
      say.when_free(function() done(answer.result or {}, keys) end)
    end)
  end

  function M.import(path)
    say.news("Importing…")
    M.ask_choosing("notes/import", { path = files.absolute(path) }, function(result, keys)
      sees.opens(files.open, keys)(result)
      refresh()
      say.outcome(result)
      for _, one in ipairs(result.failed or {}) do say.remember(one.path .. ": " .. one.message) end
      say.warn(result.warning or "")
    end)
  end

  local formats = { "markdown", "automerge", "automerge-repo", "json", "meetingnotes" }
  local endings = { "automerge", "meetingnotes", "md", "markdown", "txt", "json" }

  -- The file's ending says what it is; a directory is one of automerge-repo. Where the name says nothing, the user chooses.
  function M.export(path, is_forced, format)
    local note = current()
    if not note then return end
    local params = { uri = note.uri, path = files.absolute(path), replace = is_forced, format = format }
    if vim.fn.isdirectory(params.path) == 1 or path:find("/$") then
      params.format = "automerge-repo"
    elseif not format and not vim.tbl_contains(endings, vim.fn.fnamemodify(path, ":e"):lower()) then
      return choose(formats, "Export " .. vim.fn.fnamemodify(path, ":t") .. " as", function(it) return it end, function(it)
        M.export(path, is_forced, it)
      end)
    end
    service.request("notes/export", params, function(answer)
      if answer.error and (answer.error.data or {}).kind == "conflict" then
        return say.warn(":NotesExport! replaces " .. vim.fn.fnamemodify(params.path, ":t") .. ", which exists already")
      end
      if answer.error then return say.warn(answer.error.message) end
      say.news("Exported to " .. vim.fn.fnamemodify(answer.result.path, ":~:."))
    end)
  end

  function M.copy(given)
    local note, lines = note_of.of(), api.nvim_buf_get_lines(0, 0, -1, true)
    local title = given ~= "" and given or vim.fn.expand("%:t:r") .. " copy"
    local is_note, open = note and note.id ~= "", sees.opens(files.open)
    ask(is_note and "notes/copy" or "notes/create",
      { title = title, uri = is_note and note.uri or nil, text = not is_note and table.concat(lines, "\n") or nil },
      function(result)
        open(result)
        say.news('Copied to "' .. title .. '", which is yours alone')
      end)
  end

  -- Puts the current buffer's item at this place of the agenda, counted from 1.
  function M.move_item(place)
    local note = current()
    if not note then return end
    if not place:find("^[1-9]%d*$") then return say.warn(":NotesMoveItem 2 moves it to the second place") end
    ask("notes/moveItem", { uri = note.uri, position = tonumber(place) - 1 }, say.outcome)
  end
end
