-- The condition of a buffer, as the status line and messages show it: a note, read-only, offline, or no longer a note.
-- Says "synced" only if the service has proved it for the exact text of the buffer.

local api = vim.api
local text = require("notes_lsp.text")
local say = require("notes_lsp.say")
local service = require("notes_lsp.service")
local note_of = require("notes_lsp.note")
local presence = require("notes_lsp.presence")
local unsent = require("notes_lsp.unsent")
local M = {}

-- How long after a change to ask the service whether all people have it, and the longest pause between two requests.
local first_question_ms, rarest_question_ms = 300, 5000
-- The pause if no other person has the note: the answer then proves only that the service has the text.
local question_alone_ms = 1000
local maximum_names, maximum_name = 3, 16
M.read_only_line = "Read-only. :NotesCopy makes a copy to edit"

local gone_words = {
  deleted = "deleted", deletedForEveryone = "deleted for everyone", itemDeleted = "item deleted",
  textDeleted = "text deleted",
  purged = "removed for good", notFound = "not found", notOpened = "cannot be opened", renamed = "plain copy",
}

local function refresh() vim.cmd("redrawstatus!") end

function M.is_read_only(note) return note.access == "read" end

function M.show_access(note)
  vim.bo[note.buf].modifiable, vim.bo[note.buf].readonly = note.access ~= "read", note.access == "read"
end

function M.set_access(note, access)
  if not access or access == (note.access or "write") or not api.nvim_buf_is_loaded(note.buf) then return end
  note.access = access
  M.show_access(note)
  refresh()
end

-- The answer that opened the note names this user's access.
function M.on_opened(note, result)
  if note and result.access == "read" and not M.is_read_only(note) then
    M.set_access(note, "read")
    say.warn(M.read_only_line)
  end
end

-- Makes the buffer a plain file's, and its status line say why.
function M.leave(note, reason)
  local buf = note.buf
  note_of.detach(buf)
  require("notes_lsp.files").forget(note.path)
  if api.nvim_buf_is_loaded(buf) then
    vim.bo[buf].modifiable, vim.bo[buf].readonly = true, false
    vim.b[buf].notes_lsp_gone, vim.b[buf].notes_lsp_gone_id = gone_words[reason] or reason, note.id
  end
  refresh()
end

local prove

-- {stored, network, peers, access} of a note, as the service reports on its own, or as its answer about the text that
-- had this version.
function M.on_status(note, told, version)
  local is_first = note.proven == nil
  if version then
    note.proven, note.patience = version, first_question_ms
    unsent.on_read(note, version)
  end
  note.status = told
  local was = note.access or "write"
  M.set_access(note, told.access)
  if is_first and was == "write" and M.is_read_only(note) then say.warn(M.read_only_line) end
  if #(told.peers or {}) > 0 then note.is_unshared = false end
  refresh()
  M.prove_soon(note)
end

-- Soon asks the service whether it and all people have the buffer's text, unless that is known.
function M.prove_soon(note)
  if note.is_proving or note.proven == note.version or not note.is_open or note.id == "" then return end
  note.is_proving = true
  local is_alone = #((note.status or {}).peers or {}) == 0
  local delay = math.max(note.patience or first_question_ms, is_alone and question_alone_ms or 0)
  vim.defer_fn(function() prove(note) end, note.proven and delay or 0)
end

prove = function(note)
  if note_of.of(note.buf) ~= note or not note.is_open or not service.is_ready() then
    note.is_proving = false
    return
  end
  local version = note.version
  service.request("notes/status", { uri = note.uri }, function(answer)
    note.is_proving = false
    -- While the note is being opened, the answer is about the service.
    if answer.result and not answer.result.documents then
      M.on_status(note, answer.result, version)
    else
      note.patience = math.min((note.patience or first_question_ms) * 2, rarest_question_ms)
      vim.defer_fn(function() M.prove_soon(note) end, note.patience)
    end
  end)
end

local function short(name)
  name = text.shown(name)
  return vim.fn.strchars(name) <= maximum_name and name or vim.fn.strcharpart(name, 0, maximum_name - 1) .. "…"
end

-- How far the other people's copies are, as the service words it. It says of a text that was not proved that it is being sent.
local function company(note, words)
  local is_proven = note.proven == note.version and note.is_synced
  local told = note.status or {}
  local pieces = vim.tbl_map(function(it)
    local words_of_it = is_proven and it.text or it.whenLater or it.text
    return it.name and text.shown(words_of_it) .. presence.arrow(note, it.name) or words_of_it
  end, told.company or {})
  if #pieces > 0 then table.insert(words, table.concat(pieces)) end
  -- People whose carets arrive through other peers.
  local known, others = {}, {}
  for _, peer in ipairs(told.peers or {}) do known[peer.name] = true end
  for _, name in ipairs(presence.names(note)) do
    if not known[name] then table.insert(others, short(name) .. presence.arrow(note, name)) end
  end
  if #others > 0 then
    table.insert(words, "with " .. (#others > maximum_names and #others .. " people" or table.concat(others, ", ")))
  end
end

-- What the user should know about a note, the most urgent first; "" if no other person has it and all is well.
function M.words(note)
  if not service.is_ready() or not note.is_open then
    local is_starting = service.state == "ready" or service.state == "starting"
    return (note.was_open or not is_starting) and "offline (" .. service.state .. ")" or "opening"
  end
  local told, words = note.status or {}, {}
  if (told.waiting or "") ~= "" then return "waiting for " .. text.shown(told.waiting) end
  if unsent.is_late(note) then table.insert(words, "not stored") end
  company(note, words)
  if note.is_unshared then table.insert(words, "no longer shared") end
  return table.concat(words, "; ")
end

-- The note in a buffer in a few words, for a status line; "" in a file that never was one.
function M.line(buf)
  buf = buf or api.nvim_get_current_buf()
  local note = note_of.of(buf)
  if not note then
    local gone = vim.b[buf].notes_lsp_gone
    return gone and "[not a note: " .. gone .. "]" or ""
  end
  if note.id == "" then return "" end
  local words = M.words(note)
  return words == "" and "[note]" or "[note: " .. words .. "]"
end

-- A note was deleted and still has a buffer. The text may exist nowhere else, so Neovim asks before it closes the buffer.
local function on_purged(event)
  local is_shown = false
  for _, buf in ipairs(api.nvim_list_bufs()) do
    if event.id and vim.b[buf].notes_lsp_gone_id == event.id then
      vim.b[buf].notes_lsp_gone, vim.bo[buf].modified, is_shown = gone_words.purged, true, true
    end
  end
  return is_shown
end

-- The events that change what a buffer is. Returns whether this was one.
function M.on_event(event)
  local kind = event.kind
  local acts = {
    access = function(note) M.set_access(note, event.access) end,
    refused = M.show_access,
    unshared = function(note)
      note.is_unshared = true
      M.set_access(note, event.access or "write")
      note.status = vim.tbl_extend("force", note.status or {}, { peers = {}, company = {} })
      note.peers = {}
      presence.redraw(note)
    end,
    moved = function(note) note.id = event.id or note.id end,
    detached = function(note) M.leave(note, event.reason or "deleted") end,
  }
  if not acts[kind] then return false end
  local note = note_of.with_uri(event.uri or "")
  if not note then
    -- Words of a note that no buffer shows. Everything else was reported already, in the answer to what this person did.
    local is_kept = kind == "refused" or (kind == "detached" and (event.reason == "itemDeleted" or event.reason == "textDeleted"))
    if is_kept or (kind == "detached" and event.reason == "purged" and on_purged(event)) then say.warn(event.message or "") end
    return kind ~= "moved"
  end
  acts[kind](note)
  say.event(event)
  refresh()
  return true
end

table.insert(note_of.listeners, {
  on_attach = function(note)
    vim.b[note.buf].notes_lsp_gone = nil
    if vim.g.notes_lsp_statusline == false then return end
    if vim.o.laststatus == 1 then vim.o.laststatus = 2 end
    if vim.go.statusline == "" then
      vim.go.statusline = "%<%f %h%m%r%{v:lua.require'notes_lsp'.status()}%=%-14.(%l,%c%V%) %P"
    end
  end,
  on_published = M.prove_soon,
  on_reloaded = function(note) if M.is_read_only(note) then M.show_access(note) end end,
  on_detach = function(note)
    if M.is_read_only(note) and api.nvim_buf_is_loaded(note.buf) then
      vim.bo[note.buf].modifiable, vim.bo[note.buf].readonly = true, false
    end
  end,
})

service.on("notes/statusChanged", function(params)
  local note = note_of.with_uri(params.uri or "")
  if note then M.on_status(note, params) end
  require("notes_lsp.view").refresh()
end)

service.on_gone(refresh)

return M
