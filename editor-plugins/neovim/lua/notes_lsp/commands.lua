-- The verbs behind the commands. Results and problems are one line each.

local api = vim.api
local text = require("notes_lsp.text")
local say = require("notes_lsp.say")
local view = require("notes_lsp.view")
local service = require("notes_lsp.service")
local note_of = require("notes_lsp.note")
local presence = require("notes_lsp.presence")
local condition = require("notes_lsp.condition")
local files = require("notes_lsp.files")
local M = {}

local not_a_note = "Not a note. :NotesAdopt makes it one"
local tickets = {}
local refresh = view.refresh

-- Asks, and hands the result on when the user is not in the middle of something; an error is told in one line.
local function ask(method, params, done, failed)
  service.request(method, next(params) and params or vim.empty_dict(), function(answer)
    if answer.error then
      if failed then failed() end
      say.warn(answer.error.message)
    else
      say.when_free(function() done(answer.result or {}) end)
    end
  end)
end

local function choose(items, prompt, label, act)
  vim.ui.select(items, { prompt = prompt, format_item = function(it) return text.shown(label(it)) end }, function(item)
    if item then act(item) end
  end)
end

-- Of a document that another program has made, the person chooses the text to edit: whether an answer asks for that.
-- `act` gets the path of the one that is chosen.
local function choose_text(answer, act)
  local data = answer.error and answer.error.data
  if type(data) ~= "table" or data.kind ~= "chooseText" then return false end
  say.when_free(function()
    local function label(it) return it.text .. "  " .. it.start end
    choose(data.texts, "Text to edit:", label, function(it) act(it.text) end)
  end)
  return true
end

-- A note of someone else, which may take its time: opened if the user has only waited, else announced.
local function await(method, params, line)
  local function mark() return { api.nvim_get_current_win(), api.nvim_buf_get_changedtick(0), vim.fn.getcurpos() } end
  local before = mark()
  say.news(line)
  local function take(result)
    if not result.path then return refresh() end
    if api.nvim_get_mode().mode == "n" and vim.deep_equal(before, mark()) then
      files.open(result)
    else
      say.warn(('"%s" is ready: :NotesOpen %s'):format(vim.fn.fnamemodify(result.path, ":t:r"), vim.fn.fnamemodify(result.path, ":t:r")))
    end
    refresh()
  end
  service.request(method, params, function(answer)
    if choose_text(answer, function(path) await(method, vim.tbl_extend("force", params, { text = path }), line) end) then
      return
    end
    if answer.error then return say.warn(answer.error.message) end
    say.when_free(function() take(answer.result or {}) end)
  end)
end

local function current()
  local note = note_of.of()
  if note and note.id ~= "" then
    note_of.flush(note, false)
    return note
  end
  say.warn(not_a_note)
end

-- Calls `act` with the current buffer as a note that the service has been shown, or says why it cannot be one.
local function with_buffer(act)
  local buf = api.nvim_get_current_buf()
  local note = note_of.of(buf)
  if note then return act(note, function() end) end
  local problem = files.why_no_note(buf)
  if problem then return say.warn(problem) end
  if service.start() then
    act(note_of.attach(buf, files.uri(api.nvim_buf_get_name(buf)), ""), function() note_of.detach(buf) end)
  end
end

local function titled(given, prompt, act)
  if given ~= "" then return act(given) end
  vim.ui.input({ prompt = prompt }, function(title)
    vim.cmd("redraw | echo")
    if title and vim.trim(title) ~= "" then act(vim.trim(title)) end
  end)
end

function M.new(given)
  titled(given, "Title: ", function(title) ask("notes/create", { title = title }, files.open) end)
end

-- A note that teaches by doing: a robot of the service types in it.
function M.tutorial() ask("notes/tutorial", { keys = "vim" }, files.open) end

function M.open(title) ask("notes/open", { title = title }, files.open) end

function M.adopt()
  with_buffer(function(note, undo)
    if note.id ~= "" then return say.news("Already a note") end
    ask("notes/adopt", { uri = note.uri }, function(result)
      note_of.attach(note.buf, note.uri, result.id)
      files.know(note.path, note.uri, result.id)
      say.news(vim.fn.fnamemodify(note.path, ":t") .. " is a note now")
    end, undo)
  end)
end

local function show_ticket(ticket)
  tickets[ticket.id] = ticket
  vim.fn.setreg('"', ticket.ticket)
  if vim.fn.has("clipboard") == 1 then pcall(vim.fn.setreg, "+", ticket.ticket) end
  local what = ticket.access == "read" and "read" or "edit"
  local buf = view.show("Notes ticket", {
    "Anyone with this ticket can " .. what .. " this note (one use)", "", ticket.ticket, "", "Or read aloud:",
    ticket.words or "", "", 'In register "; :NotesTicket shows it again',
  })
  vim.wo[vim.fn.bufwinid(buf)].wrap, vim.wo[vim.fn.bufwinid(buf)].linebreak = true, true
end

function M.share(access)
  with_buffer(function(note, undo)
    ask("notes/share", { uri = note.uri, access = access }, function(result)
      note_of.attach(note.buf, note.uri, result.id)
      files.know(note.path, note.uri, result.id)
      show_ticket(result)
    end, note.id == "" and undo or nil)
  end)
end

function M.ticket()
  local note = current()
  if note and tickets[note.id] then
    show_ticket(tickets[note.id])
  elseif note then
    say.warn(":NotesShare first: no ticket was made here yet")
  end
end

function M.join(ticket)
  if ticket == "" then return M.answer() end
  await("notes/join", { ticket = ticket }, "Joining…")
end

local function spaced(code) return code:sub(1, 3) .. " " .. code:sub(4) end

function M.invited(peer, sent)
  -- The digits come first, where no name can stand before them.
  say.news(sent.code and ("Code %s: invited %s. :NotesAnswer to confirm"):format(spaced(sent.code), peer.name)
    or "Invited " .. peer.name)
  refresh()
end

function M.invite(name)
  with_buffer(function(note, undo)
    ask("notes/peers", {}, function(result)
      local near = vim.tbl_filter(function(it)
        return it.state ~= "blocked" and (name == "" or it.peer == name or it.name:lower() == name:lower())
      end, result.peers or {})
      local function invite(peer)
        ask("notes/invite", { uri = note.uri, peer = peer.peer }, function(sent)
          M.invited(peer, sent)
        end)
      end
      if #near == 0 then
        if note.id == "" then undo() end
        say.warn(name == "" and ":NotesShare makes a ticket to send; no one is nearby"
          or ":NotesPeers shows people nearby; " .. name .. " is not")
      elseif #near == 1 and name ~= "" then
        invite(near[1])
      else
        choose(near, "Invite", function(it) return it.name .. "  " .. it.state .. "  " .. it.peer:sub(1, 8) end, invite)
      end
    end)
  end)
end

local function described(invitation)
  if not invitation.from then return invitation.to.name .. ' accepted "' .. invitation.title .. '"' end
  if invitation.from.changed then return "WARNING: " .. invitation.from.name .. " is not who you met" end
  local only = invitation.access == "read" and " (read-only)" or ""
  return invitation.from.name .. ' invites you to "' .. (invitation.title or "a note") .. '"' .. only
end

local function decide(invitation)
  -- The digits are in the choice, where no peer can write.
  local code, is_ours = invitation.code and spaced(invitation.code), invitation.to ~= nil
  local choices = is_ours and { (code or "") .. " on both screens: share", "another code, or none: cancel" }
    or { code and code .. " on both screens: accept" or "accept", "decline", "block " .. invitation.from.name }
  choose({ 1, 2, choices[3] and 3 }, described(invitation), function(index) return choices[index] end, function(index)
    local params = { invitation = invitation.invitation, accept = index == 1, block = index == 3 or nil }
    if index == 1 and not is_ours then
      return await("notes/answer", params, "Waiting for " .. invitation.from.name .. "…")
    end
    ask("notes/answer", params, function()
      if is_ours and index == 2 then say.news("Canceled; nothing was shared") end
      if not is_ours then say.news(index == 3 and "Blocked " .. invitation.from.name or "Declined") end
    end)
  end)
end

function M.answer()
  ask("notes/invitations", {}, function(result)
    local open = vim.list_extend(result.invitations or {},
      vim.tbl_filter(function(it) return it.awaitsConfirmation end, result.sent or {}))
    if #open == 0 then return say.news("No invitations. :NotesJoin {ticket} joins with a ticket") end
    if #open == 1 then return decide(open[1]) end
    choose(open, "Invitations", function(it)
      return (it.code and spaced(it.code) .. "  " or "") .. described(it)
    end, decide)
  end)
end

function M.verify(name)
  ask("notes/verify", { peer = name }, function(result)
    local lines = { (result.code:gsub("(%d%d%d%d%d)", "%1 ")), "", result.name .. " must see the same digits." }
    if result.changed then
      vim.list_extend(lines, { "", "WARNING: another key uses this name too.",
        "Someone may pretend to be the person you met." })
    end
    view.show("Notes verify", lines)
  end)
end

function M.unshare(name)
  local note = current()
  if not note then return end
  local found = name ~= "" and presence.find(note, name)
  ask("notes/unshare", { uri = note.uri, peer = found and found.peer or (name ~= "" and name or nil) }, function()
    if name == "" then note.is_unshared = true end
    say.news(name == "" and "No longer shared" or "No longer shared with " .. name)
  end)
end

-- Removes a person from the current note for good: the others go on in a new copy.
function M.remove(name, is_sure)
  local note = current()
  if not note then return end
  local question = "Go on without " .. name .. ", who keeps a copy?"
  if not is_sure and vim.fn.confirm(question, "&Remove\n&Cancel", 2) ~= 1 then return end
  local found = presence.find(note, name)
  ask("notes/remove", { uri = note.uri, peer = found and found.peer or name, moveOn = true }, function() refresh() end)
end

function M.rename(given)
  local note = current()
  if not note then return end
  titled(given, "New title: ", function(title)
    ask("notes/rename", { uri = note.uri, title = title }, function()
      say.news('Renamed to "' .. title .. '" (file follows on close)')
    end)
  end)
end

function M.delete(is_sure, is_for_everyone)
  local note = current()
  if not note then return end
  local question = is_for_everyone and "Delete for everyone who has it?" or "Delete your copy? Others keep theirs."
  if not is_sure and vim.fn.confirm(question, "&Delete\n&Keep", 2) ~= 1 then return end
  ask("notes/delete", { uri = note.uri, forEveryone = is_for_everyone }, function()
    -- The service may have said so already.
    if note_of.of(note.buf) == note then
      condition.leave(note, is_for_everyone and "deletedForEveryone" or "deleted")
      say.news("Deleted" .. (is_for_everyone and " for everyone" or "") .. ". :NotesUndelete restores it for 30 days")
    end
  end)
end

function M.undelete(title)
  ask("notes/list", { deleted = true }, function(result)
    local notes = vim.tbl_filter(function(it) return title == "" or it.title == title end, result.notes or {})
    local function restore(it) ask("notes/undelete", { id = it.id }, files.open) end
    if #notes == 0 then
      say.warn(title == "" and "No deleted notes" or 'No deleted note is called "' .. title .. '"')
    elseif title ~= "" then
      restore(notes[1])
    else
      choose(notes, "Restore", function(it) return it.title end, restore)
    end
  end)
end

function M.find(words)
  ask("notes/list", { query = words }, function(result)
    files.know_all(result.notes or {})
    local found = {}
    for _, it in ipairs(result.notes or {}) do
      local match = it.match or { path = it.path, line = 0, text = "" }
      if match.path then
        table.insert(found, { filename = match.path, lnum = match.line + 1, text = text.shown(it.title .. ": " .. match.text) })
      end
    end
    if #found == 0 then return say.news('No note has "' .. words .. '"') end
    vim.fn.setqflist({}, " ", { title = "Notes with " .. words, items = found })
    vim.cmd("copen")
  end)
end

function M.recovered()
  ask("notes/recovered", {}, function(result)
    local items = vim.tbl_map(function(it)
      return { filename = it.path, lnum = 1, text = text.shown(it.title .. ", " .. view.day(it.time) .. ": " .. it.reason) }
    end, result.texts or {})
    if #items == 0 then return say.news("No recovered text") end
    vim.fn.setqflist({}, " ", { title = "Recovered texts", items = items })
    vim.cmd("copen")
  end)
end

local function with_peer(name, act)
  local note = note_of.of()
  local peer = presence.find(note, name)
  if peer then return act(note, peer) end
  say.warn(name == "" and "No one else is in this note" or name .. " is not in this note")
end

function M.go(name)
  with_peer(name, function(note, peer)
    vim.cmd("normal! m'")
    presence.go(note, peer)
  end)
end

function M.follow(name)
  local note = note_of.of()
  if note and name == "" and presence.follow(note, nil) then return say.news("Stopped following") end
  with_peer(name, function(_, peer)
    presence.follow(note, peer)
    presence.go(note, peer)
    say.news("Following " .. peer.name .. ". :NotesFollow again stops")
  end)
end

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

function M.import(path) M.ask_choosing("notes/import", { path = absolute(path) }, files.open) end

function M.export(path, is_forced)
  local note = current()
  if not note then return end
  local params = { uri = note.uri, path = absolute(path), replace = is_forced }
  if vim.fn.isdirectory(params.path) == 1 then params.format = "automerge-repo" end
  ask("notes/export", params, function(result) say.news("Exported to " .. vim.fn.fnamemodify(result.path, ":~:.")) end)
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
  titled(given, "Title of the item: ", function(title)
    ask("notes/addItem", { uri = note and note.uri, id = target.id, title = title }, files.open)
  end)
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

function M.name(name)
  ask("notes/setName", { name = name }, function() say.news("Others see you as " .. name) end)
end

function M.status()
  local note = note_of.of()
  if not note or note.id == "" then
    local gone = vim.b.notes_lsp_gone
    local running = service.is_ready() and "running" or service.state
    return say.news((gone and "Not a note any more: " .. gone or "Not a note (:NotesAdopt makes it one)") .. ". Service " .. running)
  end
  ask("notes/status", { uri = note.uri }, function(result)
    condition.on_status(note, result)
    local words = condition.words(note)
    say.news((result.stored and "Stored" or "Not stored yet") .. (words == "" and "; not shared" or "; " .. words))
  end)
end

function M.restart()
  service.stop()
  if service.start() then say.news("The service is starting") end
end

-- Undo belongs to the service, for the editor's own would take back what others typed.
function M.undo(verb, argument)
  local note = current()
  if not note then return end
  if condition.is_read_only(note) then return say.warn(condition.read_only_line) end
  if not service.is_ready() or not service.has_undo() then return say.warn("Offline: no undo until the service is back") end
  local count, unit = tostring(argument):match("^(%d*)([smhd]?)$")
  if not count then return say.warn("A count, or a time such as 5m") end
  local seconds = ({ s = 1, m = 60, h = 3600, d = 86400 })[unit]
  local amount = tonumber(count) or 1
  ask("notes/" .. verb, {
    uri = note.uri, version = note.version, rev = note.rev, count = not seconds and amount or nil,
    seconds = seconds and amount * seconds or nil,
  }, function(result) say.news(result.message or "") end)
end

require("notes_lsp.history")(M, ask, current)
require("notes_lsp.server")(M, ask, choose)
M.show_ticket = show_ticket
require("notes_lsp.screens")(M, ask, current, choose)
files.on_empty_meeting = function(id) M.agenda_of({ id = id }) end

service.on("notes/event", function(event)
  if not condition.on_event(event) then
    local reply = event.kind == "invited" and ". :NotesAnswer to reply"
      or event.kind == "accepted" and " :NotesAnswer to compare codes" or event.kind == "keyChanged" and ". :NotesVerify" or ""
    local urgent = { declined = true, deleted = true, forged = true, keyChanged = true, waiting = true, invited = true, accepted = true }
    local message = (event.message or "") == "" and "" or event.message .. reply
    if urgent[event.kind] then say.warn(message) else say.news(message) end
  end
  files.on_placed(event)
  refresh()
end)

return M
