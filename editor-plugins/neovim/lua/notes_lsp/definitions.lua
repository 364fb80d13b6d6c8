-- Generated from editor-plugins/description.json by generate.py; change those.

local M = {}

-- The commands. `complete` has a function for each kind of completion, `lines` returns the lines that a command was given,
-- and `commands` loads what they call.
function M.define(complete, lines, commands)
  local function define(name, act, options)
    options.bang = true
    vim.api.nvim_create_user_command(name, function(arguments) act(commands(), arguments) end, options)
  end
  -- your notes and those shared with you, live; <CR> opens one, ? shows all keys, q closes the list
  define("Notes", function(c) c.list() end, { nargs = 0 })
  -- makes a practice note in which a robot types
  define("NotesTutorial", function(c) c.carry_out("NotesTutorial", "") end, { nargs = 0 })
  -- creates a note and opens it
  define("NotesNew", function(c, a) c.carry_out("NotesNew", a.args) end, { nargs = "?" })
  -- opens a note; completes titles
  define("NotesOpen", function(c, a) c.carry_out("NotesOpen", a.args) end, { nargs = 1, complete = complete.titles })
  -- makes the current buffer a note
  define("NotesAdopt", function(c) c.adopt() end, { nargs = 0 })
  -- shares the current buffer: the ticket is copied and shown; ! for read only
  define("NotesShare", function(c, a) c.share(a.bang, a.args) end, { nargs = "*", complete = complete.share })
  -- shows the last ticket again, or closes it
  define("NotesTicket", function(c) c.ticket() end, { nargs = 0 })
  -- joins with a ticket; without one, answers an invitation
  define("NotesJoin", function(c, a) c.join(a.args) end, { nargs = "?" })
  -- opens a note that arrived while you were doing something else
  define("NotesShow", function() require("notes_lsp.arrival").show() end, { nargs = 0 })
  -- stops waiting for a note
  define("NotesGiveUp", function() require("notes_lsp.arrival").give_up() end, { nargs = 0 })
  -- invites a person nearby to the current note; completes names
  define("NotesInvite", function(c, a) c.invite(a.args) end, { nargs = "?", complete = complete.near })
  -- shows digits that the other person sees too, unless an attacker relays the connection
  define("NotesVerify", function(c, a) c.verify(a.args) end, { nargs = 1, complete = complete.near })
  -- shows open invitations: accept, decline, block
  define("NotesAnswer", function(c) c.answer() end, { nargs = 0 })
  -- connects to a server, or to a person's address, and offers to publish the current note there; ! asks for the token
  define("NotesConnect", function(c, a) c.connect(a.fargs, a.bang) end, { nargs = "+" })
  -- forgets a server
  define("NotesDisconnect", function(c, a) c.carry_out("NotesDisconnect", a.args) end, { nargs = 1 })
  -- stops sharing the current note, with all people or with one
  define("NotesUnshare", function(c, a) c.unshare(a.args) end, { nargs = "?", complete = complete.near })
  -- removes a person from the current note; you and the others continue in a new copy; ! without asking
  define("NotesRemove", function(c, a) c.remove(a.args, a.bang) end, { nargs = 1, complete = complete.near })
  -- the people of the current note: access, state, invite, verify, remove
  define("NotesPeople", function(c) c.people() end, { nargs = 0 })
  -- changes what a person may do
  define("NotesAccess", function(c, a) c.access(a.args) end, { nargs = 1, complete = complete.near })
  -- trusts a person
  define("NotesTrust", function(c, a) c.carry_out("NotesTrust", a.args) end, { nargs = 1, complete = complete.near })
  -- blocks a person, who can then no longer reach you
  define("NotesBlock", function(c, a) c.carry_out("NotesBlock", a.args) end, { nargs = 1, complete = complete.near })
  -- lists all people that the service knows or hears
  define("NotesPeers", function(c) c.peers() end, { nargs = 0 })
  -- changes the name that others see, and whether people on this network see you
  define("NotesName", function(c, a) c.name(a.args) end, { nargs = "?" })
  -- gives the current note another title
  define("NotesRename", function(c, a) c.carry_out("NotesRename", a.args) end, { nargs = "?" })
  -- makes a note of your own with this text, for instance of a read-only note
  define("NotesCopy", function(c, a) c.copy(a.args) end, { nargs = "?" })
  -- deletes the current note; others keep theirs; ! without asking
  define("NotesDelete", function(c, a) c.carry_out("NotesDelete", "", nil, a.bang) end, { nargs = 0 })
  -- deletes the current note for everyone who has it; each can restore it; ! without asking
  define("NotesDeleteForEveryone", function(c, a) c.carry_out("NotesDeleteForEveryone", "", nil, a.bang) end, { nargs = 0 })
  -- restores a deleted note
  define("NotesUndelete", function(c, a) c.undelete(a.args) end, { nargs = "?" })
  -- lists the deleted notes: restores, or deletes for good
  define("NotesDeleted", function(c) c.deleted() end, { nargs = 0 })
  -- deletes a deleted note for good
  define("NotesPurge", function(c, a) c.purge(a.args) end, { nargs = "?" })
  -- texts that an overwrite would have lost
  define("NotesRecovered", function(c) c.recovered() end, { nargs = 0 })
  -- lists the notes with all these words, in the quickfix list
  define("NotesFind", function(c, a) c.find(a.args) end, { nargs = "+" })
  -- makes a note of a file: .automerge, .meetingnotes, .md, .json, or a directory of automerge-repo
  define("NotesImport", function(c, a) c.import(a.args) end, { nargs = 1, complete = "file" })
  -- writes the current note to a file, by its ending; ! replaces one
  define("NotesExport", function(c, a) c.export(a.args, a.bang) end, { nargs = 1, complete = "file" })
  -- merges another copy of the current note
  define("NotesMerge", function(c, a) c.carry_out("NotesMerge", a.args) end, { nargs = 1, complete = "file" })
  -- makes a meeting: a note in which each agenda item has its own buffer
  define("NotesMeeting", function(c, a) c.carry_out("NotesMeeting", a.args) end, { nargs = "?" })
  -- adds an item to the current meeting
  define("NotesItem", function(c, a) c.carry_out("NotesItem", a.args) end, { nargs = "?" })
  -- moves the current item to that place of the agenda, counted from 1
  define("NotesMoveItem", function(c, a) c.move_item(a.args) end, { nargs = 1 })
  -- the current meeting's items in order, live: opens, adds, renames, moves, deletes
  define("NotesAgenda", function(c) c.agenda() end, { nargs = 0 })
  -- goes to a person, in another note if need be
  define("NotesGo", function(c, a) c.go(a.args) end, { nargs = "?", complete = complete.here })
  -- stays with a person until you move
  define("NotesFollow", function(c, a) c.follow(a.args) end, { nargs = "?", complete = complete.here })
  -- shows the others this place, or the range
  define("NotesPoint", function(c, a) c.point(a.args, lines(a)) end, { nargs = "?", range = true })
  -- states of the note: what each changed
  define("NotesHistory", function(c) c.history() end, { nargs = 0 })
  -- restores a state that you choose; with a range, only those lines
  define("NotesRestore", function(c, a) c.restore(lines(a)) end, { nargs = 0, range = true })
  -- what is new to you
  define("NotesDiff", function(c) c.diff() end, { nargs = 0 })
  -- shows or hides the author of each line
  define("NotesBlame", function(c, a) c.blame(lines(a)) end, { nargs = 0, range = true })
  -- shows all messages
  define("NotesLog", function(c) c.log() end, { nargs = 0 })
  -- shows whether everything is stored and sent
  define("NotesStatus", function(c) c.status() end, { nargs = 0 })
  -- reverts your last edit
  define("NotesUndo", function(c, a) c.undo("undo", a.args) end, { nargs = "?" })
  -- redoes what you reverted last
  define("NotesRedo", function(c, a) c.undo("redo", a.args) end, { nargs = "?" })
  -- starts the service again
  define("NotesRestart", function(c) c.restart() end, { nargs = 0 })
  -- stops the service
  define("NotesStop", function(c) c.stop() end, { nargs = 0 })
  -- shows what is wrong
  define("NotesDoctor", function() vim.cmd("checkhealth notes_lsp") end, { nargs = 0 })
end

-- What the commands that make one request ask for, send and say.
M.flows = {
  NotesTutorial = {
    method = "notes/tutorial",
    params = { keys = "vim" },
    opens = true,
  },
  NotesNew = {
    method = "notes/create",
    argument = "title",
    prompt = "Title: ",
    opens = true,
  },
  NotesOpen = {
    method = "notes/open",
    argument = "title",
    opens = true,
  },
  NotesDisconnect = {
    method = "notes/disconnect",
    argument = "url",
    say = "Disconnected from {}",
  },
  NotesTrust = {
    method = "notes/trust",
    argument = "peer",
    params = { state = "trusted" },
  },
  NotesBlock = {
    method = "notes/trust",
    argument = "peer",
    params = { state = "blocked" },
  },
  NotesRename = {
    method = "notes/rename",
    about = "note",
    argument = "title",
    prompt = "New title: ",
    say = "Renamed to \"{}\" (file follows on close)",
  },
  NotesDelete = {
    method = "notes/delete",
    about = "note",
    confirm = "Delete your copy? Others keep theirs.",
    confirmItem = "Delete this item for everyone?",
  },
  NotesDeleteForEveryone = {
    method = "notes/delete",
    about = "note",
    params = { forEveryone = true },
    confirm = "Delete for everyone who has it?",
  },
  NotesMerge = {
    method = "notes/merge",
    about = "note",
    argument = "path",
    isFile = true,
  },
  NotesMeeting = {
    method = "notes/create",
    params = { kind = "meeting" },
    argument = "title",
    prompt = "Title of the meeting: ",
    opens = true,
  },
  NotesItem = {
    first = "notes/items",
    method = "notes/addItem",
    about = "list",
    argument = "title",
    prompt = "Title of the item: ",
    opens = true,
  },
}

-- Twelve colours that can be told apart, for light and for dark backgrounds: the number of 256 and the RGB of a
-- caret, the same of a selection.
M.light = {
  { 160, "#d70000", 224, "#ffd7d7" },
  { 27, "#005fff", 189, "#d7d7ff" },
  { 28, "#008700", 194, "#d7ffd7" },
  { 166, "#d75f00", 223, "#ffd7af" },
  { 91, "#8700af", 225, "#ffd7ff" },
  { 30, "#008787", 195, "#d7ffff" },
  { 162, "#d70087", 218, "#ffafd7" },
  { 94, "#875f00", 230, "#ffffd7" },
  { 60, "#5f5f87", 254, "#e4e4e4" },
  { 64, "#5f8700", 193, "#d7ffaf" },
  { 125, "#af005f", 219, "#ffafff" },
  { 24, "#005f87", 153, "#afd7ff" },
}
M.dark = {
  { 203, "#ff5f5f", 52, "#5f0000" },
  { 75, "#5fafff", 17, "#00005f" },
  { 77, "#5fd75f", 22, "#005f00" },
  { 215, "#ffaf5f", 94, "#875f00" },
  { 141, "#af87ff", 54, "#5f0087" },
  { 80, "#5fd7d7", 23, "#005f5f" },
  { 212, "#ff87d7", 89, "#87005f" },
  { 179, "#d7af5f", 58, "#5f5f00" },
  { 146, "#afafd7", 60, "#5f5f87" },
  { 149, "#afd75f", 64, "#5f8700" },
  { 205, "#ff5faf", 53, "#5f005f" },
  { 117, "#87d7ff", 24, "#005f87" },
}

return M
