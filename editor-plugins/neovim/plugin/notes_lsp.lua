-- notes-lsp: notes that several people write at the same time, from Neovim, Vim, Emacs and others. See :help notes-lsp.

if vim.g.loaded_notes_lsp then return end
if vim.fn.has("nvim-0.7.2") == 0 then
  vim.api.nvim_echo({ { "Notes: update Neovim to 0.7.2 or later", "WarningMsg" } }, true, {})
  return
end
vim.g.loaded_notes_lsp = true

local api = vim.api
local group = api.nvim_create_augroup("notes_lsp", {})

-- Everything that is needed once there is a note, and nothing before.
local function load()
  local presence = require("notes_lsp.presence")
  local note_of, service = require("notes_lsp.note"), require("notes_lsp.service")
  local commands = require("notes_lsp.commands")
  if vim.g.notes_lsp_is_listening then return commands end
  vim.g.notes_lsp_is_listening = true
  presence.define_highlights()
  local function on(events, act) api.nvim_create_autocmd(events, { group = group, callback = act }) end
  local function each(act)
    return function()
      for _, note in ipairs(note_of.all()) do act(note) end
    end
  end
  on("ColorScheme", presence.define_highlights)
  on({ "CursorMoved", "CursorMovedI", "ModeChanged", "BufEnter" }, presence.report)
  on({ "CursorMoved", "InsertEnter", "TextChanged" }, presence.on_moved)
  on({ "InsertLeave", "CompleteDone", "CmdlineLeave", "TextChanged", "TextChangedI", "TextChangedP" }, each(note_of.drain))
  api.nvim_create_autocmd("OptionSet", {
    group = group, pattern = { "endofline", "fixendofline", "binary" },
    callback = each(function(note) note_of.flush(note, true) end),
  })
  on("VimLeavePre", function()
    each(function(note) note_of.flush(note, false) end)()
    service.stop()
  end)
  return commands
end

-- Undo keys and commands of a note ask the service.
local function map_undo(note)
  if vim.g.notes_lsp_map_undo == false then return end
  for key, verb in pairs({ u = "undo", U = "undo", ["g-"] = "undo", ["<Undo>"] = "undo", ["<C-r>"] = "redo", ["g+"] = "redo" }) do
    vim.keymap.set("n", key, function() load().undo(verb, vim.v.count1) end, { buffer = note.buf, desc = "Notes: " .. verb })
  end
  for word, verb in pairs({
    u = "Undo", undo = "Undo", ea = "Undo", earlier = "Undo", red = "Redo", redo = "Redo", lat = "Redo", later = "Redo",
  }) do
    local abbreviation = "cnoreabbrev <buffer> <expr> %s getcmdtype() == ':' && getcmdline() ==# '%s' ? 'Notes%s' : '%s'"
    api.nvim_buf_call(note.buf, function() vim.cmd(abbreviation:format(word, word, verb, word)) end)
  end
end

local function unmap_undo(note)
  if not api.nvim_buf_is_loaded(note.buf) then return end
  for _, key in ipairs({ "u", "U", "g-", "<Undo>", "<C-r>", "g+" }) do pcall(vim.keymap.del, "n", key, { buffer = note.buf }) end
  api.nvim_buf_call(note.buf, function()
    for _, word in ipairs({ "u", "undo", "ea", "earlier", "red", "redo", "lat", "later" }) do
      vim.cmd("silent! cunabbrev <buffer> " .. word)
    end
  end)
end

-- What is loaded hears of the first note as of every other one.
local has_listened = false
local function commands()
  local loaded = load()
  if not has_listened then
    has_listened = true
    table.insert(require("notes_lsp.note").listeners, { on_attach = map_undo, on_detach = unmap_undo })
  end
  return loaded
end

local function titles(lead)
  local found = {}
  require("notes_lsp.service").request("notes/list", vim.empty_dict(), function(answer)
    for _, note in ipairs((answer.result or {}).notes or {}) do table.insert(found, note.title) end
  end)
  vim.wait(80, function() return #found > 0 end, 2)
  return vim.tbl_filter(function(it) return vim.startswith(it:lower(), lead:lower()) end, found)
end

local function names(lead)
  local note_of, presence = require("notes_lsp.note"), require("notes_lsp.presence")
  return vim.tbl_filter(function(it) return vim.startswith(it:lower(), lead:lower()) end, presence.names(note_of.of()))
end

local function ticket_words(lead)
  return vim.tbl_filter(function(it) return vim.startswith(it, lead) end, { "read", "uses=1", "hours=1", "days=7" })
end

-- The lines that a command was given; none if it was given none.
local function lines(arguments)
  if arguments.range > 0 then return arguments.line1, arguments.line2 end
end

local with_lines = { NotesBlame = true, NotesPoint = true, NotesRestore = true }

-- Name, arguments, completion, and what it does.
for _, it in ipairs({
  { "Notes", 0, nil, function(c) c.list() end },
  { "NotesTutorial", 0, nil, function(c) c.tutorial() end },
  { "NotesNew", "?", nil, function(c, a) c.new(a.args) end },
  { "NotesOpen", 1, titles, function(c, a) c.open(a.args) end },
  { "NotesAdopt", 0, nil, function(c) c.adopt() end },
  { "NotesShare", "*", ticket_words, function(c, a) c.share(a.bang, a.args) end },
  { "NotesTicket", 0, nil, function(c) c.ticket() end },
  { "NotesJoin", "?", nil, function(c, a) c.join(a.args) end },
  { "NotesShow", 0, nil, function() require("notes_lsp.arrival").show() end },
  { "NotesGiveUp", 0, nil, function() require("notes_lsp.arrival").give_up() end },
  { "NotesInvite", "?", nil, function(c, a) c.invite(a.args) end },
  { "NotesAnswer", 0, nil, function(c) c.answer() end },
  { "NotesAccess", 1, names, function(c, a) c.access(a.args) end },
  { "NotesTrust", 1, names, function(c, a) c.trust(a.args, a.args, "trust") end },
  { "NotesBlock", 1, names, function(c, a) c.trust(a.args, a.args, "block") end },
  { "NotesVerify", 1, names, function(c, a) c.verify(a.args) end },
  { "NotesConnect", "+", nil, function(c, a) c.connect(a.fargs, a.bang) end },
  { "NotesDisconnect", 1, nil, function(c, a) c.disconnect(a.args) end },
  { "NotesUnshare", "?", names, function(c, a) c.unshare(a.args) end },
  { "NotesRename", "?", nil, function(c, a) c.rename(a.args) end },
  { "NotesDelete", 0, nil, function(c, a) c.delete(a.bang, false) end },
  { "NotesDeleteForEveryone", 0, nil, function(c, a) c.delete(a.bang, true) end },
  { "NotesUndelete", "?", nil, function(c, a) c.undelete(a.args) end },
  { "NotesPurge", "?", nil, function(c, a) c.purge(a.args) end },
  { "NotesFind", "+", nil, function(c, a) c.find(a.args) end },
  { "NotesRecovered", 0, nil, function(c) c.recovered() end },
  { "NotesPeople", 0, nil, function(c) c.people() end },
  { "NotesDeleted", 0, nil, function(c) c.deleted() end },
  { "NotesPeers", 0, nil, function(c) c.peers() end },
  { "NotesGo", "?", names, function(c, a) c.go(a.args) end },
  { "NotesFollow", "?", names, function(c, a) c.follow(a.args) end },
  { "NotesPoint", "?", nil, function(c, a) c.point(a.args, lines(a)) end },
  { "NotesHistory", 0, nil, function(c) c.history() end },
  { "NotesDiff", 0, nil, function(c) c.diff() end },
  { "NotesBlame", 0, nil, function(c, a) c.blame(lines(a)) end },
  { "NotesRestore", 0, nil, function(c, a) c.restore(lines(a)) end },
  { "NotesImport", 1, "file", function(c, a) c.import(a.args) end },
  { "NotesExport", 1, "file", function(c, a) c.export(a.args, a.bang) end },
  { "NotesMerge", 1, "file", function(c, a) c.merge(a.args) end },
  { "NotesCopy", "?", nil, function(c, a) c.copy(a.args) end },
  { "NotesMeeting", "?", nil, function(c, a) c.meeting(a.args) end },
  { "NotesAgenda", 0, nil, function(c) c.agenda() end },
  { "NotesItem", "?", nil, function(c, a) c.item(a.args) end },
  { "NotesMoveItem", 1, nil, function(c, a) c.move_item(a.args) end },
  { "NotesRemove", 1, names, function(c, a) c.remove(a.args, a.bang) end },
  { "NotesName", "?", nil, function(c, a) c.name(a.args) end },
  { "NotesLog", 0, nil, function() require("notes_lsp.view").show("Notes log", require("notes_lsp.say").log) end },
  { "NotesStatus", 0, nil, function(c) c.status() end },
  { "NotesUndo", "?", nil, function(c, a) c.undo("undo", a.args) end },
  { "NotesRedo", "?", nil, function(c, a) c.undo("redo", a.args) end },
  { "NotesDoctor", 0, nil, function() vim.cmd("checkhealth notes_lsp") end },
  { "NotesRestart", 0, nil, function(c) c.restart() end },
  { "NotesStop", 0, nil, function(c) c.stop() end },
}) do
  local name, count, completion, act = unpack(it)
  api.nvim_create_user_command(name, function(arguments) act(commands(), arguments) end, {
    nargs = count, complete = completion, bang = true, range = with_lines[name],
  })
end

api.nvim_create_autocmd({ "BufReadPost", "BufNewFile" }, {
  group = group,
  callback = function(it)
    commands()
    require("notes_lsp.files").on_read(it.buf)
  end,
})

-- Others see this person on the network without a note being open, if the person chose that: the service keeps a file that says so.
api.nvim_create_autocmd("VimEnter", {
  group = group,
  callback = function()
    vim.defer_fn(function()
      if vim.fn.filereadable(require("notes_lsp.files").directory() .. "/.seen") == 1 then
        commands()
        require("notes_lsp.service").start()
      end
    end, 2000)
  end,
})

api.nvim_create_autocmd("BufReadCmd", {
  group = group, pattern = "*.meetingnotes",
  callback = function(it) commands().open_file(vim.fn.fnamemodify(it.file, ":p")) end,
})
