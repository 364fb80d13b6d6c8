-- Buffers that are notes: the user's edits go out, other people's come in.
--
-- Per buffer there is a shadow, the text as the service believes this buffer to be. Neovim says which lines a change touched;
-- these are compared with the shadow, and the difference is sent.

local api = vim.api
local text = require("notes_lsp.text")
local say = require("notes_lsp.say")
local service = require("notes_lsp.service")
local apply = require("notes_lsp.apply")
local M = {}

-- How many services a buffer remembers: the last one may have ended before it had merged the buffer.
local remembered_services = 4

local notes = {}
-- The highest version of a note that was closed. The next one starts above it: what comes late for one is not taken for the other's.
local last_version = 0
-- While an edit is being applied, Neovim reports changes that are not the user's.
local is_applying = false
-- Called with the note: on_attach, on_detach, on_applied, on_drained, on_cursors, on_published, on_reloaded.
M.listeners = {}

function M.tell(what, ...)
  for _, listener in ipairs(M.listeners) do
    if listener[what] then listener[what](...) end
  end
end

function M.all() return vim.tbl_values(notes) end
function M.of(buf) return notes[buf == nil and api.nvim_get_current_buf() or buf] end

function M.with_uri(uri) return vim.tbl_filter(function(note) return note.uri == uri end, M.all())[1] end

-- What b:notes_lsp tells others.
function M.publish(note)
  if not api.nvim_buf_is_loaded(note.buf) then return end
  note.is_synced = note.is_open and #note.queue == 0 and note.tick == api.nvim_buf_get_changedtick(note.buf)
  vim.b[note.buf].notes_lsp = {
    id = note.id, uri = note.uri, rev = note.rev, version = note.version, peers = #note.peers, synced = note.is_synced,
  }
  M.tell("on_published", note)
end

-- Replaces what no note can hold in the buffer itself, so that both sides stay equal; a NUL by `nul`, or else as the rest.
-- Returns whether it did.
local function mend(note, first, lines, nul)
  local options, has_mended = vim.bo[note.buf], false
  for index, line in ipairs(lines) do
    local good = text.sendable(line, nul)
    if good ~= line then
      local modifiable = options.modifiable
      options.modifiable = true
      api.nvim_buf_set_lines(note.buf, first + index - 1, first + index, true, { good })
      options.modifiable = modifiable
      say.warn("Line " .. (first + index) .. ": replaced an invalid character with U+FFFD")
      lines[index], has_mended = good, true
    end
  end
  return has_mended
end

local function send_change(note, change)
  note.version = note.version + 1
  if note.is_open then
    note.is_open = service.notify("textDocument/didChange", {
      textDocument = { uri = note.uri, version = note.version }, contentChanges = { change }, notes = { rev = note.rev },
    })
  end
  M.publish(note)
end

local function take_all(note, nul)
  note.shadow = apply.lines_of(note.buf, #note.shadow == 1 and note.shadow[1] == "")
  mend(note, 0, note.shadow, nul)
  note.bytes = text.byte_count(note.shadow)
  note.tick, note.hint = api.nvim_buf_get_changedtick(note.buf), nil
end

-- Sends the whole text, which is correct in every state and repairs a wrong one.
function M.send_whole(note)
  if note.is_reading then return end
  take_all(note)
  send_change(note, { text = table.concat(note.shadow, "\n") })
end

-- The caret of the current window as `text.difference` takes it; nil if that shows another buffer.
local function caret_in(buf)
  if api.nvim_get_current_buf() ~= buf then return nil end
  local line, column = unpack(api.nvim_win_get_cursor(0))
  local width = 0
  if api.nvim_get_mode().mode:sub(1, 1) ~= "i" then
    width = #vim.fn.strcharpart(api.nvim_get_current_line():sub(column + 1), 0, 1)
  end
  return { line = line - 1, character = column, behind = column + width }
end

-- Sends what the user has changed since the last call. Cheap if nothing has changed. `is_forced`: compares everything.
function M.flush(note, is_forced)
  local buf = note.buf
  if is_applying or note.is_reading or not api.nvim_buf_is_loaded(buf) then return end
  if not is_forced and note.tick == api.nvim_buf_get_changedtick(buf) then return end
  local hint, total = note.hint, api.nvim_buf_line_count(buf)
  local above, below, new = 0, 0, nil
  note.hint = nil
  local was_empty = #note.shadow == 1 and note.shadow[1] == ""
  if hint and not is_forced and not was_empty and total > 1 then
    local hidden = apply.has_final_newline(buf) and 1 or 0
    above, below = hint.above, hint.below + hidden
    -- Neovim may name lines that the buffer does not have.
    if hint.below >= 0 and above + below <= #note.shadow and above + hint.below <= total and hidden == note.hidden then
      new = api.nvim_buf_get_lines(buf, above, total - hint.below, true)
    end
  end
  if not new then above, below, new = 0, 0, apply.lines_of(buf, was_empty) end
  local edit, grown = text.difference(note.shadow, above, below, new, caret_in(buf))
  if edit and mend(note, above, new) then
    edit, grown = text.difference(note.shadow, above, below, new, caret_in(buf))
  end
  note.tick, note.hint, note.hidden = api.nvim_buf_get_changedtick(buf), nil, apply.has_final_newline(buf) and 1 or 0
  if not edit then return M.publish(note) end
  text.patch(note.shadow, above, #note.shadow - above - below, new)
  note.bytes = note.bytes + grown
  send_change(note, { range = edit.range, text = edit.newText })
end

-- An edit was lost, so no later one fits. An empty change raises the version, and the service then sends everything
-- that this buffer lacks.
function M.ask_again(note)
  local start = text.position(0, 0)
  send_change(note, { range = { start = start, ["end"] = start }, text = "" })
end

function M.repair(note, what)
  M.send_whole(note)
  say.news("The text differed from the note; sent in full")
  service.remember(note.path .. " differed: " .. what)
end

local function take(note, message)
  is_applying = true
  local ok, grown, trouble = pcall(function()
    return apply.edits(note.buf, note.shadow, text.clamped(note.shadow, message.edits))
  end)
  is_applying = false
  note.hint, note.hidden = nil, apply.has_final_newline(note.buf) and 1 or 0
  if not ok then
    M.repair(note, tostring(grown))
    return
  end
  note.bytes = note.bytes + grown
  note.tick, note.rev = api.nvim_buf_get_changedtick(note.buf), message.rev
  if trouble then say.trouble(trouble) end
  if note.bytes ~= message.bytes then
    M.repair(note, note.bytes .. ", not " .. message.bytes .. " bytes")
    return
  end
  service.notify("notes/ack", { uri = note.uri, version = note.version, rev = note.rev })
  local first = message.edits[1]
  if message.cause == "undo" then note.awaits_undo = false end
  if message.cause == "undo" and first and note.buf == api.nvim_get_current_buf() and api.nvim_get_mode().mode == "n" then
    -- After undo, the cursor is at the change, as in any other buffer.
    vim.fn.cursor(first.range.start.line + 1, first.range.start.character + 1)
  end
end

-- Drains once, as soon as `later` calls.
local function drain_by(later, note)
  if note[later] then return end
  note[later] = true
  later(function()
    note[later] = nil
    M.drain(note)
  end)
end

-- Sends pending edits, then applies received ones, unless the user is in the middle of something.
function M.drain(note)
  if note.is_draining or note.is_reading or notes[note.buf] ~= note then return end
  note.is_draining = true
  local ok, problem = pcall(function()
    M.flush(note, false)
    local has_applied = false
    while #note.queue > 0 and not say.is_busy() do
      local message = table.remove(note.queue, 1)
      if message.rev ~= note.last_seen + 1 then M.ask_again(note) end
      note.last_seen = message.rev
      -- An edit made for an earlier version is dropped: the service sends it again, carried over what was sent here.
      if message.version == note.version then
        take(note, message)
        has_applied = true
      end
    end
    if has_applied then M.tell("on_applied", note) end
    if #note.queue == 0 then M.tell("on_drained", note) end
    M.publish(note)
  end)
  note.is_draining = false
  if not ok then say.trouble(tostring(problem)) end
  if #note.queue > 0 then drain_by(say.when_free, note) end
end

-- Shows a buffer to the service: first as a file that was opened, later as a buffer that outlived a service. From what
-- the buffer had from earlier services, the new one concludes which words are new.
local function send_open(note)
  if not service.is_ready() then return end
  local params = {
    textDocument = {
      uri = note.uri, languageId = vim.bo[note.buf].filetype ~= "" and vim.bo[note.buf].filetype or "text",
      version = note.version, text = table.concat(note.shadow, "\n"),
    },
  }
  if note.was_open then
    if note.had[1] and note.rev > 0 then note.had[1].rev = note.rev end
    params.notes = { reattach = true }
    if note.had[1] then
      params.notes.run, params.notes.had, params.notes.opened = note.had[1].run, note.had, note.opened
    end
  elseif note.opened and note.opened ~= params.textDocument.text then
    params.notes = { reattach = true, opened = note.opened }
  elseif note.id ~= "" then
    params.notes = { id = note.id }
  end
  -- Kept until the service reports on the buffer: a service that ends before then has stored none of it.
  if not note.was_open then note.opened = note.opened or params.textDocument.text end
  note.rev, note.last_seen, note.queue, note.late_cursors = 0, 0, {}, nil
  note.is_open = service.notify("textDocument/didOpen", params)
  note.was_open = note.was_open or note.is_open
  if note.is_open and service.run() then
    table.insert(note.had, 1, { run = service.run(), version = note.version, rev = 0 })
    note.had[remembered_services + 1] = nil
  end
  M.publish(note)
end

-- A reload shows the file, not an edit of the user: the service compares it with the last known content of the file, so
-- that no unsaved words are lost. It is shown even a NUL, which is replaced when the service has proved to know the text: else
-- the line would be a new one.
local function reopen(note)
  note.was_open, note.had, note.is_reading = false, {}, false
  take_all(note, "\0")
  note.version = note.version + 1
  -- What was typed since then is in the buffer already.
  note.opened, note.file_text = note.file_text, nil
  send_open(note)
end

-- on_lines names the lines once for a whole command; on_bytes reports each change in it, after the text has changed further.
local function listen(note)
  -- From now on the text is the file's, not an edit of the user. :edit unloads a buffer and reads it again at once; only one
  -- that stays unloaded is closed.
  local function read_again(is_deaf)
    note.is_reading = true
    vim.schedule(function()
      if notes[note.buf] ~= note then return end
      if not api.nvim_buf_is_loaded(note.buf) then return M.detach(note.buf) end
      if is_deaf then listen(note) end
      apply.set_options(note.buf, service.is_ready())
      reopen(note)
      M.tell("on_reloaded", note)
    end)
  end
  api.nvim_buf_attach(note.buf, false, {
    on_lines = function(_, buf, _, first, _, new_last)
      if notes[buf] ~= note then return true end
      if is_applying then return end
      local below = api.nvim_buf_line_count(buf) - new_last
      local hint = note.hint or { above = first, below = below }
      note.hint = { above = math.min(hint.above, first), below = math.min(hint.below, below) }
      drain_by(vim.schedule, note)
    end,
    on_reload = function(_, buf)
      if notes[buf] ~= note then return true end
      read_again(false)
    end,
    on_detach = function() read_again(true) end,
  })
end

-- Keeps the file's text when Neovim reads the file again: the person may type more before reopen(), or a service, runs.
local function keep_file_text(note)
  api.nvim_create_autocmd("BufReadPost", { buffer = note.buf, callback = function()
    if notes[note.buf] ~= note then return true end
    local lines = vim.tbl_map(function(line) return text.sendable(line, "\0") end, apply.lines_of(note.buf, false))
    note.file_text = table.concat(lines, "\n")
  end })
end

-- Makes a loaded buffer a note that the service looks after.
function M.attach(buf, uri, id)
  local note = notes[buf]
  if note then
    note.id = id ~= "" and id or note.id
    M.publish(note)
    return note
  end
  -- A buffer of the note that was wiped out just now is closed before this one is opened.
  local other = M.with_uri(uri)
  if other and not api.nvim_buf_is_loaded(other.buf) then M.detach(other.buf) end
  note = {
    buf = buf, id = id or "", uri = uri, path = vim.fn.fnamemodify(api.nvim_buf_get_name(buf), ":p"), version = last_version + 1,
    rev = 0, shadow = { "" }, queue = {}, had = {}, peers = {}, last_seen = 0, is_open = false, was_open = false,
  }
  take_all(note, "\0")
  note.opened = not vim.bo[buf].modified and table.concat(note.shadow, "\n") or nil
  note.hidden = apply.has_final_newline(buf) and 1 or 0
  notes[buf] = note
  apply.set_options(note.buf, service.is_ready())
  listen(note)
  keep_file_text(note)
  M.tell("on_attach", note)
  send_open(note)
  return note
end

-- Forgets a buffer that is no longer a note. May be called twice.
function M.detach(buf)
  local note = notes[buf]
  if not note then return end
  notes[buf] = nil
  last_version = math.max(last_version, note.version)
  if note.is_open and not M.with_uri(note.uri) then service.notify("textDocument/didClose", { textDocument = { uri = note.uri } }) end
  if api.nvim_buf_is_valid(buf) then
    apply.reset_options(buf)
    vim.b[buf].notes_lsp = nil
  end
  M.tell("on_detach", note)
end

service.on_ready(function()
  for _, note in pairs(notes) do
    apply.set_options(note.buf, true)
    M.flush(note, true)
    note.version = note.version + 1
    send_open(note)
  end
end)

service.on_gone(function()
  for _, note in pairs(notes) do
    note.is_open, note.queue, note.peers = false, {}, {}
    apply.set_options(note.buf, false)
    M.tell("on_cursors", note)
    M.publish(note)
  end
end)

return M
