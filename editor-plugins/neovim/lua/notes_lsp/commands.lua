-- What the commands do. Results and problems are one line each.

local api = vim.api
local text = require("notes_lsp.text")
local say = require("notes_lsp.say")
local view = require("notes_lsp.view")
local service = require("notes_lsp.service")
local note_of = require("notes_lsp.note")
local presence = require("notes_lsp.presence")
local condition = require("notes_lsp.condition")
local files = require("notes_lsp.files")
local arrival = require("notes_lsp.arrival")
local definitions = require("notes_lsp.definitions")
local opens = arrival.opens
local M = {}

local refresh = view.refresh

-- Asks, and passes the result on when the user is not in the middle of something. Shows an error on one line.
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
    -- The prompt would stay on the last line, and the next one would follow it.
    vim.cmd("redraw | echo")
    if item then act(item) end
  end)
end

-- Whether an answer asks which text of a document of another program to edit. If so, the user chooses; `act` gets the path of
-- that text. `keys`: as for `opens`.
local function choose_text(answer, act, keys)
  local data = answer.error and answer.error.data
  if type(data) ~= "table" or data.kind ~= "chooseText" then return false end
  say.when_free(function()
    local function label(it) return it.text .. "  " .. it.start end
    opens(function() choose(data.texts, "Text to edit:", label, function(it) act(it.text) end) end, keys)()
  end)
  return true
end

local function await(method, params, line, still) arrival.await(method, params, line, still, choose_text) end

local function current()
  local note = note_of.of()
  if note and note.id ~= "" then
    note_of.flush(note, false)
    return note
  end
  say.warn(vim.bo.buftype == "" and "Not a note. :NotesAdopt makes it one" or "Not a note; go to a note first")
end

-- The current buffer, or nothing, with the reason why it cannot be a note.
local function usable_buffer()
  local buf = api.nvim_get_current_buf()
  local problem = not note_of.of(buf) and files.why_no_note(buf)
  if not problem then return buf end
  say.warn(problem)
end

-- Calls `act` with the buffer, by default the current one, as a note that the service knows.
local function with_buffer(act, buf)
  buf = buf or usable_buffer()
  if not buf then return end
  local note = note_of.of(buf)
  if note then return act(note, function() end) end
  if service.start() then
    act(note_of.attach(buf, files.uri(api.nvim_buf_get_name(buf)), ""), function() note_of.detach(buf) end)
  end
end

local function become_note(note, result)
  note_of.attach(note.buf, note.uri, result.id)
  files.know(note.path, note.uri, result.id)
end

-- Calls `act` with the buffer as a note, which it becomes if it is none.
local function with_adopted(buf, act)
  with_buffer(function(note, undo)
    if note.id ~= "" then return act(note) end
    ask("notes/adopt", { uri = note.uri }, function(result)
      become_note(note, result)
      act(note)
    end, undo)
  end, buf)
end

local function titled(given, prompt, former, act)
  if given ~= "" then return act(given) end
  vim.ui.input({ prompt = prompt, default = former }, function(title)
    vim.cmd("redraw | echo")
    title = vim.trim(title or "")
    if title ~= "" and title ~= former then act(title) end
  end)
end

-- A command of definitions.lua that asks for what is missing, makes one request, and says what came of it.
-- given: its argument, or ""; row: of a list, instead of the current buffer's note; is_sure: without asking
function M.carry_out(command, given, row, is_sure)
  local flow, target = definitions.flows[command], {}
  local question = flow.confirm
  if flow.about and row then
    target = { id = row.id, item = row.item, uri = not row.id and row.uri or nil }
  elseif flow.about then
    local listed = flow.about == "list" and view.target().id
    local note = not listed and current()
    if not listed and not note then return end
    target = { id = listed or nil, uri = note and note.uri or nil }
    if note and note.status and note.status.item then question = flow.confirmItem or question end
  end
  if question and not is_sure and vim.fn.confirm(question, "&Delete\n&Keep", 2) ~= 1 then return end
  local function send(value)
    local open = flow.opens and opens(files.open)
    local argument = flow.argument and { [flow.argument] = flow.isFile and files.absolute(value) or value } or {}
    ask(flow.method, vim.tbl_extend("force", target, flow.params or {}, argument), function(result)
      if open then open(result) end
      refresh()
      say.news(((flow.say or result.message or ""):gsub("{}", (value:gsub("%%", "%%%%")))))
    end)
  end
  if not flow.argument then return send("") end
  -- The file's name may be a former title: the file follows when it is closed.
  local former = row and row.title or command == "NotesRename" and ((note_of.of() or {}).status or {}).title or nil
  local function title() titled(given, flow.prompt, former, send) end
  -- What cannot be is said before anything is asked for.
  if flow.first and given == "" then ask(flow.first, target, opens(title)) else title() end
end

function M.adopt()
  with_buffer(function(note, undo)
    if note.id ~= "" then return say.news("Already a note") end
    ask("notes/adopt", { uri = note.uri }, function(result)
      become_note(note, result)
      say.news(vim.fn.fnamemodify(note.path, ":t") .. " is a note now")
    end, undo)
  end)
end

function M.join(ticket)
  if ticket == "" then return M.answer() end
  await("notes/join", { ticket = ticket }, "Joining… (:NotesGiveUp)")
end

function M.unshare(name)
  local note = current()
  if not note then return end
  local found = name ~= "" and presence.find(note, name)
  ask("notes/unshare", { uri = note.uri, peer = found and found.peer or (name ~= "" and name or nil) }, function(result)
    if name == "" then note.is_unshared = true end
    say.news(result.message or "No longer shared")
  end)
end

-- Removes a person, by id or name, from a note permanently: the others go on in a new copy. Checks that the note is shared with
-- this person before it asks the user.
function M.remove_from(target, peer, is_sure)
  local params = vim.tbl_extend("force", target, { peer = peer, moveOn = true, check = not is_sure })
  ask("notes/remove", params, is_sure and refresh or opens(function(result)
    local question = "Remove " .. (result.name or "") .. " (a copy stays with them)?"
    if vim.fn.confirm(question, "&Remove\n&Cancel", 2) == 1 then M.remove_from(target, peer, true) end
  end))
end

function M.remove(name, is_sure)
  local note = current()
  if not note then return end
  local found = presence.find(note, name)
  M.remove_from({ uri = note.uri }, found and found.peer or name, is_sure)
end

local function with_deleted(title, prompt, act)
  ask("notes/list", { deleted = true }, opens(function(result)
    local notes = vim.tbl_filter(function(it) return title == "" or it.title == title end, result.notes or {})
    if #notes == 0 then
      say.warn(title == "" and "No deleted notes" or 'No deleted note is called "' .. title .. '"')
    elseif title ~= "" then
      act(notes[1])
    else
      choose(notes, prompt, function(it) return it.title end, act)
    end
  end))
end

function M.undelete(title)
  with_deleted(title, "Restore", function(it) ask("notes/undelete", { id = it.id }, opens(files.open)) end)
end

-- Deletes a deleted note and its history permanently.
function M.purge_note(it)
  local question = ('Delete "%s" and its history for good?'):format(text.shown(it.title))
  if vim.fn.confirm(question, "&Delete\n&Keep", 2) ~= 1 then return end
  ask("notes/purge", { id = it.id }, function()
    refresh()
    say.news(('"%s" is gone for good'):format(it.title))
  end)
end

function M.purge(title) with_deleted(title, "Delete for good", M.purge_note) end

function M.find(words)
  ask("notes/list", { query = words }, opens(function(result)
    files.know_all(result.notes or {})
    local found = {}
    for _, it in ipairs(result.notes or {}) do
      local match = it.match or { path = it.path, line = 0, text = "" }
      if match.path then
        table.insert(found, { filename = match.path, lnum = match.line + 1, text = text.shown(it.title .. ": " .. match.text) })
      end
    end
    if #found == 0 then return say.news('No note contains "' .. words .. '"') end
    vim.fn.setqflist({}, " ", { title = "Notes with " .. words, items = found })
    vim.cmd("copen")
  end))
end

function M.recovered()
  ask("notes/recovered", {}, opens(function(result)
    local items = vim.tbl_map(function(it)
      return { filename = it.path, lnum = 1, text = text.shown(it.title .. ", " .. view.day(it.time) .. ": " .. it.reason) }
    end, result.texts or {})
    if #items == 0 then return say.news("No recovered text") end
    vim.fn.setqflist({}, " ", { title = "Recovered texts", items = items })
    vim.cmd("copen")
  end))
end

local function with_peer(name, act)
  local note = note_of.of()
  local peer = presence.find(note, name)
  if peer then return act(note, peer) end
  say.warn(name == "" and "No one else is in this note" or name .. " is not in this note")
end

-- Goes to a person's caret, or to where they have just pointed, also in another note if a list shows that they are there.
function M.go(name)
  local note = note_of.of()
  local peer = presence.find(note, name)
  if peer then
    vim.cmd("normal! m'")
    return presence.go(note, peer)
  end
  ask("notes/open", { near = name }, opens(function(place)
    files.open(place)
    presence.expect(place.near)
    say.news(text.shown(place.near) .. " is in this note")
  end))
end

function M.follow(name)
  local note = note_of.of()
  if note and name == "" and presence.is_following(note) then return presence.stop_following(note) end
  with_peer(name, function(_, peer)
    presence.follow(note, peer)
    say.news("Following " .. text.shown(peer.name) .. "; moving or typing stops it")
  end)
end

-- Points out the cursor's place, or these lines, to the others in the note.
function M.point(words, first, last)
  local note = current()
  if not note then return end
  local at = text.position(vim.fn.line(".") - 1, vim.fn.col(".") - 1)
  local range = not first and { start = at, ["end"] = at }
    or { start = text.position(first - 1, 0), ["end"] = text.position(last - 1, #vim.fn.getline(last)) }
  ask("notes/point", { uri = note.uri, version = note.version, rev = note.rev, range = range, text = words }, say.outcome)
end

function M.log() view.show("Notes log", say.log) end

function M.status()
  local note = note_of.of()
  if not note or note.id == "" then
    local gone = vim.b.notes_lsp_gone
    local running = service.is_ready() and "running" or service.state
    return say.news((gone and "Not a note any more: " .. gone or "Not a note (:NotesAdopt makes it one)") .. ". Service " .. running)
  end
  ask("notes/status", { uri = note.uri }, function(result)
    if result.documents then return say.warn("Not stored: the service has not opened this note") end
    condition.on_status(note, result)
    local words = condition.words(note)
    if words == "" then words = "not shared" end
    -- The words begin with the reason why it is not stored, if there is one.
    local stored = result.stored and "Stored; " or words:find("^not stored") and "" or "Not stored yet; "
    say.news(((stored .. words):gsub("^%l", string.upper)))
  end)
end

function M.stop()
  service.stop(function() say.news("Service stopped; typing is kept. :NotesRestart") end)
end

function M.restart()
  service.stop(function() end)
  if service.start() then say.news("The service is starting") end
end

-- How long an undo may block Neovim. A service that needs longer brings the text later.
local undo_patience_ms = 1000

-- The service does undo, because the editor's own would undo what others typed.
function M.undo(verb, argument)
  local note = current()
  if not note then return end
  if condition.is_read_only(note) then return say.warn(condition.read_only_line) end
  if not vim.bo[note.buf].modifiable then return say.warn("E21: Cannot make changes, 'modifiable' is off") end
  if not service.is_ready() or not service.has_undo() then return say.warn("Offline: no undo until the service is back") end
  local count, unit = tostring(argument):match("^(%d*)([smhd]?)$")
  if not count then return say.warn("A count, or a time such as 5m") end
  local seconds = ({ s = 1, m = 60, h = 3600, d = 86400 })[unit]
  local amount = tonumber(count) or 1
  note.awaits_undo = true
  ask("notes/" .. verb, {
    uri = note.uri, version = note.version, rev = note.rev, count = not seconds and amount or nil,
    seconds = seconds and amount * seconds or nil,
  }, function(result)
    if not result.applied then note.awaits_undo = false end
    say.news(result.message or "")
  end, function() note.awaits_undo = false end)
  -- What comes next in a macro, or was typed ahead, is meant for the text after it.
  vim.wait(undo_patience_ms, function() return not note.awaits_undo end, 2)
end

require("notes_lsp.history")(M, ask, current, opens)
require("notes_lsp.server")(M, ask, choose, opens)
require("notes_lsp.ticket")(M, ask, with_buffer, current)
require("notes_lsp.nearby")(M, ask, choose, {
  usable_buffer = usable_buffer, with_adopted = with_adopted, current = current, await = await, opens = opens,
})
require("notes_lsp.exchange")(M, ask, choose, { choose_text = choose_text, current = current, opens = opens })
require("notes_lsp.screens")(M, ask, current, choose, opens)
files.on_empty_meeting = function(id) M.agenda_of({ id = id }) end

require("notes_lsp.incoming")
require("notes_lsp.events")

return M
