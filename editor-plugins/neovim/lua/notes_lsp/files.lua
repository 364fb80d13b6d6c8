-- Working files: which file is which note, opening one, and what other programs write there.
--
-- The service merges what another program writes to the file into the note, and it reaches the buffer as an edit. So
-- Neovim has nothing to ask: neither what to do about a file that has changed, nor whether to write over it.

local api = vim.api
local text = require("notes_lsp.text")
local say = require("notes_lsp.say")
local service = require("notes_lsp.service")
local note_of = require("notes_lsp.note")
local condition = require("notes_lsp.condition")
local M = {}

-- How long a write waits for the service to merge what another program has just written.
local merge_timeout_ms = 100
-- {uri, id} by path, for files that are opened without a command of this plugin.
local known = {}
-- The list of notes outside the notes directory, and when it was read.
local elsewhere, elsewhere_stamp = {}, nil
local has_been_ready = false

local function canonical(path)
  path = vim.fn.fnamemodify(path, ":p")
  return vim.loop.fs_realpath(path) or vim.fn.simplify(vim.fn.resolve(path))
end

local function stamp(path)
  local found = vim.loop.fs_stat(path)
  return found and found.type == "file" and table.concat({ found.mtime.sec, found.mtime.nsec, found.size, found.ino }, " ")
end

local function content(path)
  local file = stamp(path) and io.open(path, "rb")
  if not file then return nil end
  local found = file:read("*a")
  file:close()
  return found
end

function M.uri(path)
  return "file://" .. vim.fn.fnamemodify(path, ":p"):gsub("[^%w/._~-]", function(byte)
    return ("%%%02X"):format(byte:byte())
  end)
end

function M.absolute(path) return (vim.fn.fnamemodify(vim.fn.expand(path), ":p"):gsub("(.)/$", "%1")) end

function M.know(path, uri, id) known[canonical(path)] = { uri = uri, id = id } end
function M.forget(path) known[canonical(path)] = nil end

-- Learns from an answer to notes/list.
function M.know_all(notes)
  for _, note in ipairs(notes) do
    for _, place in ipairs(vim.list_extend({ note }, note.items or {})) do
      if place.path and place.uri then M.know(place.path, place.uri, note.id) end
    end
  end
end

function M.directory()
  local command, set = service.command(), vim.g.notes_lsp_dir or vim.env.NOTES_DIR
  for index, word in ipairs(command) do
    if word == "--notes" and not vim.g.notes_lsp_dir then set = command[index + 1] end
  end
  return (canonical(set and set ~= "" and set or "~/Notes"):gsub("/+$", ""))
end

local function is_where_notes_live(path)
  if known[path] or path:sub(1, #M.directory() + 1) == M.directory() .. "/" then return true end
  local list = M.directory() .. "/.elsewhere"
  if stamp(list) ~= elsewhere_stamp then
    elsewhere, elsewhere_stamp = {}, stamp(list)
    for line in (content(list) or ""):gmatch("[^\n]+") do
      local place = line:match(" (.*)")
      if place then elsewhere[canonical(place)] = true end
    end
  end
  return elsewhere[path] == true
end

-- Why a buffer cannot become a note; nil if it can.
function M.why_no_note(buf)
  if vim.bo[buf].buftype ~= "" then return "Only regular files can be notes" end
  if api.nvim_buf_get_name(buf) == "" then return ":w {file} first: this buffer has no name yet" end
  local lines = table.concat(api.nvim_buf_get_lines(buf, 0, -1, true), " ")
  if lines:find("[%z\n]") then return "The file has NUL bytes, so it cannot be a note" end
  if vim.bo[buf].binary or text.sendable(lines) ~= lines then return "Not UTF-8: :set fenc=utf-8, :w, retry" end
end

local function attach_read(buf, place)
  if note_of.of(buf) or vim.bo[buf].buftype ~= "" then return end
  local note = note_of.attach(buf, place.uri, place.id)
  note.file_stamp = not vim.bo[buf].modified and stamp(note.path) or nil
end

-- A file was read: attaches it if it is a note, and else calls `otherwise`, if given. Asks the service only about files in the
-- notes directory.
function M.on_read(buf, otherwise)
  local name = api.nvim_buf_get_name(buf)
  if vim.bo[buf].buftype ~= "" or name == "" then return end
  local path, is_note = canonical(name), note_of.of(buf)
  if not is_note and not is_where_notes_live(path) then return otherwise and otherwise() end
  -- Neovim reads modelines after this, also those of a note that is read again.
  vim.bo[buf].modeline = false
  if is_note then return end
  if known[path] and service.state ~= "stopped" then
    attach_read(buf, known[path])
    return
  end
  service.request("notes/list", { file = path }, function(answer)
    M.know_all((answer.result or {}).notes or {})
    if known[path] and api.nvim_buf_is_loaded(buf) then
      attach_read(buf, known[path])
    elseif otherwise then
      otherwise()
    end
  end)
end

-- The loaded buffer that shows a file, or nil.
local function showing(path)
  for _, buf in ipairs(api.nvim_list_bufs()) do
    local name = api.nvim_buf_is_loaded(buf) and vim.bo[buf].buftype == "" and api.nvim_buf_get_name(buf) or ""
    if name ~= "" and canonical(name) == canonical(path) then return buf end
  end
end

-- A note has a file now. A buffer that showed the file before, as a plain one, becomes the note.
function M.on_placed(event)
  if not vim.tbl_contains({ "created", "renamed", "restored" }, event.kind) or not event.path then return end
  M.know(event.path, event.uri, event.id)
  local buf = showing(event.path)
  if buf and not M.why_no_note(buf) then attach_read(buf, known[canonical(event.path)]) end
end

-- Opens what notes/open, notes/create or notes/join has answered: {id, uri, path}.
function M.open(result)
  if result.folder and #(result.items or {}) == 0 then return M.on_empty_meeting(result.id) end
  if not result.path then return end
  M.know_all({ result })
  if vim.bo.buftype == "nofile" then vim.cmd("wincmd p") end
  local window = vim.fn.bufwinid(showing(result.path) or -1)
  if window > 0 then
    api.nvim_set_current_win(window)
  else
    local verb = vim.bo.modified and not vim.o.hidden and "split" or "edit"
    vim.cmd("silent noswapfile " .. verb .. " " .. vim.fn.fnameescape(result.path))
  end
  -- The user's autocommands may have made another buffer the current one.
  local buf = showing(result.path)
  if not buf then return say.warn("Not opened: no buffer shows " .. vim.fn.fnamemodify(result.path, ":t")) end
  condition.on_opened(note_of.attach(buf, result.uri, result.id), result)
end

-- Neovim has noticed that the file has changed.
local function on_changed(note)
  if not note.is_open and service.state ~= "restarting" and service.state ~= "starting" then
    vim.v.fcs_choice = "ask"
    return
  end
  vim.v.fcs_choice = ""
  if vim.v.fcs_reason == "deleted" then
    say.news("The file is gone; :w writes it again")
  elseif vim.v.fcs_reason ~= "mode" then
    service.notify("workspace/didChangeWatchedFiles", { changes = { { uri = note.uri, type = 2 } } })
  end
end

-- Neovim asks before it writes over a file that has changed since it was read or written, and remembers when that was. A
-- BufWriteCmd that writes nothing counts as writing, so Neovim takes the file as it is for its own.
local function believe(note)
  if note.buf ~= api.nvim_get_current_buf() then return end
  local modified = vim.bo.modified
  local id = api.nvim_create_autocmd("BufWriteCmd", { buffer = note.buf, command = "setlocal nomodified" })
  pcall(vim.cmd, "lockmarks keepalt keepjumps silent write!")
  api.nvim_del_autocmd(id)
  note.file_stamp = stamp(note.path)
  vim.bo.modified = modified
end

-- Before Neovim writes the file: first waits until what another program wrote is merged, so that Neovim need not ask.
local function on_writing(note, path)
  note_of.drain(note)
  if not note.is_open or path ~= note.path or stamp(path) == note.file_stamp then return end
  local found = content(path)
  if not found then return end
  local hash = vim.fn.sha256(found)
  if hash ~= note.file_hash and text.sendable((found:gsub("\n", " "))) == found:gsub("\n", " ") then
    service.notify("notes/file", { uri = note.uri, text = found })
    vim.wait(merge_timeout_ms, function() return note.file_hash == hash end, 2)
    note_of.drain(note)
  end
  if hash == note.file_hash then believe(note) end
end

-- Neovim also reports a write that failed; the buffer is then usually still modified.
local function on_written(note, path)
  if not note.is_open or path ~= note.path then return end
  if not vim.bo[note.buf].modified then
    note_of.flush(note, false)
  elseif content(path) ~= table.concat(note.shadow, "\n") then
    return
  end
  note.file_stamp = stamp(path)
  service.notify("textDocument/didSave", { textDocument = { uri = note.uri } })
end

-- The service says that the note contains all of the file with this hash.
service.on("notes/file", function(params)
  local note = note_of.with_uri(params.uri)
  if note then
    note.file_hash, note.file_stamp, note.has_file_news = params.sha256, nil, true
    note_of.drain(note)
  end
end)

service.on_ready(function()
  if has_been_ready then
    for _, buf in ipairs(api.nvim_list_bufs()) do
      if api.nvim_buf_is_loaded(buf) then M.on_read(buf) end
    end
  end
  has_been_ready = true
end)

table.insert(note_of.listeners, {
  on_attach = function(note)
    local group = api.nvim_create_augroup("notes_lsp_buffer_" .. note.buf, {})
    local function on(events, act)
      -- Nested, or the write of `believe` would not trigger its own autocommand.
      api.nvim_create_autocmd(events, {
        group = group, buffer = note.buf, nested = events == "BufWritePre",
        callback = function(it) act(note, it.file and vim.fn.fnamemodify(it.file, ":p")) end,
      })
    end
    on("FileChangedShell", on_changed)
    on("BufWritePre", on_writing)
    on("BufWritePost", on_written)
    on({ "BufUnload", "BufFilePre" }, function()
      note_of.flush(note, false)
      note.place = note.buf == api.nvim_get_current_buf()
        and { text = table.concat(note.shadow, "\n"), view = vim.fn.winsaveview() } or nil
    end)
    -- A note's file must have the whole text: a part of it would look as if another program had deleted the rest, for
    -- everyone.
    api.nvim_create_autocmd("FileWriteCmd", {
      group = group, pattern = vim.fn.escape(note.path, " ,*[{}\\"),
      callback = function() say.warn("Choose another file: a part cannot replace the note") end,
    })
    on("BufFilePost", function()
      if vim.fn.fnamemodify(api.nvim_buf_get_name(note.buf), ":p") ~= note.path then
        condition.leave(note, "renamed")
        -- A buffer that gets back the name of its note's file is the note again.
        api.nvim_create_autocmd("BufFilePost", {
          buffer = note.buf,
          callback = function()
            if vim.fn.fnamemodify(api.nvim_buf_get_name(note.buf), ":p") ~= note.path then return end
            note_of.attach(note.buf, note.uri, note.id)
            return true
          end,
        })
        -- The file may be another note's, or this note's, moved.
        vim.schedule(function()
          M.on_read(note.buf, function()
            local is_saved = vim.fn.filereadable(api.nvim_buf_get_name(note.buf)) == 1
            say.warn(is_saved and "Saved as a plain copy; no longer shared" or "Now a plain copy; no longer shared")
          end)
        end)
      end
    end)
  end,
  -- After :edit!, what was not saved is back, and so is the cursor.
  on_applied = function(note)
    local place = note.place
    note.place = nil
    if place and note.buf == api.nvim_get_current_buf() and table.concat(note.shadow, "\n") == place.text then
      vim.fn.winrestview(place.view)
    end
  end,
  -- The buffer has all edits that came before this message. If it equals the file, there is nothing to write.
  on_drained = function(note)
    if not note.has_file_news then return end
    note.has_file_news = false
    if vim.bo[note.buf].modified and note.tick == api.nvim_buf_get_changedtick(note.buf)
      and vim.fn.sha256(table.concat(note.shadow, "\n")) == note.file_hash then
      vim.bo[note.buf].modified = false
    end
  end,
  on_detach = function(note) pcall(api.nvim_del_augroup_by_name, "notes_lsp_buffer_" .. note.buf) end,
})

return M
