-- The lists of notes, people, peers and agenda items, and what their keys do; files that are a meeting; the first start.

local api = vim.api
local say = require("notes_lsp.say")
local view = require("notes_lsp.view")
local service = require("notes_lsp.service")
local files = require("notes_lsp.files")

-- Adds the verbs to `M`. `ask` sends a request and tells its error; `current` is the note of the current buffer, or nil.
return function(M, ask, current, choose, opens)
  local function titled(prompt, act)
    vim.ui.input({ prompt = prompt }, function(title)
      vim.cmd("redraw | echo")
      if title and vim.trim(title) ~= "" then act(vim.trim(title)) end
    end)
  end

  local function reference(row) return { id = row.id, item = row.item } end

  local function done(line)
    return function()
      view.refresh()
      say.news(line)
    end
  end

  local function rename(row) M.carry_out("NotesRename", "", row) end

  local function delete(row)
    local question = row.item and ('Delete item "%s" for everyone?'):format(row.title)
      or ('Delete "%s"? Others keep theirs.'):format(row.title)
    if vim.fn.confirm(question, "&Delete\n&Keep", 2) ~= 1 then return end
    ask("notes/delete", reference(row), function(result)
      view.refresh()
      say.outcome(result)
    end)
  end

  local function share(target)
    return function(row) M.share_note(target or { id = row.id }) end
  end

  local function people_key(target) return { "P", "people", "id", function(row) M.people_of(target or { id = row.id }) end } end

  -- Your notes and those shared with you; a meeting opens as its agenda.
  function M.list()
    view.list("Notes", "notes/list", { order = M.order or "changed" }, {
      { "<CR>", "open", "id", function(row)
        if row.kind == "meeting" then return M.agenda_of({ id = row.id }) end
        ask("notes/open", { id = row.id }, opens(files.open))
      end },
      { "+", "new note", nil, function() M.carry_out("NotesNew", "") end },
      { "M", "new meeting", nil, function() M.carry_out("NotesMeeting", "") end },
      { "R", "rename", "id", rename },
      { "D", "delete; others keep theirs", "id", delete },
      { "U", "list deleted notes", nil, function() M.deleted() end },
      { "S", "share: a ticket to send", "id", share() },
      { "J", "join with a ticket", nil, function() titled("Ticket or words: ", M.join) end },
      people_key(),
      { "H", "history", "id", function(row) M.history_of({ id = row.id }) end },
      { "F", "find words in all notes", nil, function() titled("Find: ", M.find) end },
      { "s", "sort by title, or by time", nil, function()
        M.order = M.order == "title" and "changed" or "title"
        M.list()
        say.news(M.order == "title" and "Sorted by title" or "Sorted by time, newest first")
      end },
    })
  end

  function M.deleted()
    local function restore(row) ask("notes/undelete", { id = row.id }, opens(files.open)) end
    view.list("Deleted notes", "notes/list", { deleted = true }, {
      { "<CR>", "restore and open", "id", restore },
      { "U", "restore and open", "id", restore },
      { "D", "delete for good", "id", M.purge_note },
    })
  end

  local function trust(row)
    choose({ "trust", "block", "forget" }, row.name, function(it) return it end, function(it) M.trust(row.peer, it) end)
  end

  local verify = { "v", "verify: compare digits", "peer", function(row) M.verify(row.peer) end }
  local block = { "B", "trust, block or forget", "peer", trust }

  function M.people_of(target)
    view.list("Notes people", "notes/people", target, {
      { "<CR>", "go to their caret", "peer", function(row)
        vim.cmd("close")
        M.go(row.name)
      end },
      { "i", "invite", "peer", function(row) M.invite_to(target, row) end },
      { "a", "change access", "peer", function(row)
        local access = { ["can edit"] = "write", ["can read"] = "read", ["nothing: stop sharing"] = "none" }
        choose({ "can edit", "can read", "nothing: stop sharing" }, row.name, function(it) return it end, function(it)
          M.set_access(target, row, access[it])
        end)
      end },
      { "D", "remove from the note", "peer", function(row) M.remove_from(target, row.peer) end },
      verify, block, { "S", "share: a ticket to send", nil, share(target) },
    })
  end

  function M.people()
    local id = view.note_id()
    local note = not id and current()
    if id or note then M.people_of({ id = id or note.id }) end
  end

  function M.peers() view.list("Notes peers", "notes/peers", vim.empty_dict(), { verify, block }) end

  -- The agenda of a meeting, in the window of a list, or in the current buffer if that is a file of that name.
  function M.agenda_of(target, name)
    local function move(step)
      return function(row)
        -- The first row is the meeting.
        local place = vim.fn.line(".") - 2 + step
        if place >= 0 then ask("notes/moveItem", { id = row.id, item = row.item, position = place }, view.refresh) end
      end
    end
    view.list(name or "Notes agenda", "notes/items", target, {
      { "<CR>", "open the item", "item", function(row) ask("notes/open", reference(row), opens(files.open)) end },
      { "+", "new item", nil, function() M.carry_out("NotesItem", "", target) end },
      { "R", "rename the item, or the meeting", "id", rename },
      { "D", "delete the item, or the meeting", "id", delete },
      { "J", "move down", "item", move(1) },
      { "K", "move up", "item", move(-1) },
      { "d", "what others changed since you closed it", "item", function(row) M.diff_of(reference(row)) end },
      people_key(target), { "S", "share: a ticket to send", nil, share(target) },
    })
  end

  function M.agenda()
    local id = view.note_id()
    local note = not id and current()
    if id or note then M.agenda_of({ id = id or note.id }) end
  end

  -- A file that holds a whole document, as MeetingNotes saves it, is read or written in the current buffer, which shows its agenda.
  -- The service keeps the file and the note equal.
  function M.open_file(path)
    local buf, name = api.nvim_get_current_buf(), vim.fn.fnamemodify(path, ":t")
    vim.bo[buf].buftype = "acwrite"
    view.adopt(name)
    api.nvim_create_autocmd("BufWriteCmd", { buffer = buf, callback = function()
      local is_new = vim.fn.filereadable(path) == 0
      ask("notes/open", { path = path, create = true }, function(result)
        vim.bo[buf].modified = false
        say.news("Saved " .. name)
        if is_new and result.folder and api.nvim_get_current_buf() == buf then M.agenda_of({ id = result.id }, name) end
      end)
    end })
    -- Writing creates a file that does not exist yet.
    if vim.fn.filereadable(path) == 0 then return say.news(name .. " is new: :write makes a meeting in it") end
    M.ask_choosing("notes/open", { path = path }, function(result, keys)
      if api.nvim_get_current_buf() ~= buf then return say.news("Opened " .. name) end
      if result.folder then M.agenda_of({ id = result.id }, name) else opens(files.open, keys)(result) end
    end)
  end

  -- The name that :NotesName was given, which is not asked for, and whether the user was asked since.
  local chosen, is_asked = "", false

  -- Asks for the name that others see, and whether people on this network may see this person.
  local function introduce(default)
    is_asked = true
    local function take(given)
      local name = given and vim.trim(given) ~= "" and vim.trim(given) or default
      local is_seen = vim.fn.confirm("Notes: May people on this network see you?", "&No\n&Yes", 1) == 2
      ask("notes/setName", { name = name, visible = is_seen }, done("Others see you as " .. name .. ". :NotesName changes it"))
    end
    if chosen ~= "" then return take(chosen) end
    vim.ui.input({ prompt = "Name that others see: ", default = default }, take)
  end

  -- Changes the name, and stores it; without one, asks for it. At the first start the user is asked before this is answered.
  function M.name(given)
    chosen, is_asked = given, false
    local ask_name = opens(introduce)
    ask(given == "" and "notes/peers" or "notes/setName", { name = given ~= "" and given or nil }, function(result)
      chosen = ""
      if is_asked then return end
      if given == "" then return ask_name((result.self or {}).name or "") end
      say.news("Others see you as " .. given .. " now")
    end)
  end

  -- The first start asks once, if the user has done nothing since.
  service.on_ready(function()
    if not service.asks_name() then return end
    say.when_free(function()
      if say.is_idle(service.keys_at_start) then return introduce(service.peer_name()) end
      say.warn(":NotesName first: no one nearby sees you yet")
    end)
  end)
end
