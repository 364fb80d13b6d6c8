-- Words that the service may not have read: it may hang, and then be killed. When their buffer goes, they are kept in a file.
--
--     buffer gone ──► kept in a file ──the service answers──► file removed
--                           └──it hangs──► the user is told; the next service takes the file

local api = vim.api
local uv = vim.loop
local say = require("notes_lsp.say")
local service = require("notes_lsp.service")
local note_of = require("notes_lsp.note")
local M = {}

-- Words count as not stored when the service has not read them for this long.
local reading_ms = 2000
-- How long an answer may take before the user is told.
local patience_ms = 3000
-- The folder for such files, and the name that the last service gives itself.
local folder, run = nil, nil
-- The files whose words the service may still read.
local files, kept_count = {}, 0

local function find_place()
  if service.is_ready() then folder, run = service.unsent_folder(), service.run() end
end

local function await(note)
  note.unread_since = uv.now()
  vim.defer_fn(function()
    if M.is_late(note) then vim.cmd("redrawstatus!") end
  end, reading_ms + 50)
end

-- The service has proved that it has read the text of this version.
function M.on_read(note, version)
  if version <= (note.read or 0) then return end
  note.read = version
  if version < note.version then await(note) else note.unread_since = nil end
end

-- Whether the service has not read the note for so long that its words must count as not stored.
function M.is_late(note)
  return note.unread_since ~= nil and uv.now() - note.unread_since >= reading_ms
end

local function line()
  return "The service hangs; your words are in " .. vim.fn.fnamemodify(folder, ":~")
end

-- Only its owner may read it, from the first byte on. Throws.
local function write(path, content)
  vim.fn.mkdir(vim.fn.fnamemodify(path, ":h"), "p", tonumber("700", 8))
  local draft = path .. "~"
  local file = assert(uv.fs_open(draft, "w", tonumber("600", 8)))
  local written, problem = uv.fs_write(file, content, 0)
  uv.fs_close(file)
  assert(written == #content, problem)
  assert(uv.fs_rename(draft, path))
end

-- An answer proves that the service has read everything before the question.
local function ask(path)
  local mine = service.incarnation()
  files[path] = true
  service.request("notes/status", vim.empty_dict(), function(answer)
    if files[path] and answer.result and mine == service.incarnation() then uv.fs_unlink(path) end
    files[path] = nil
  end)
  vim.defer_fn(function()
    if files[path] then say.warn(line()) end
  end, patience_ms)
end

-- Call before a buffer's text goes. What the file has is safe.
function M.keep(note)
  find_place()
  local read = note.read or 0
  if not folder or note.id == "" or read == note.version or note.kept == note.version or not vim.bo[note.buf].modified then
    return
  end
  kept_count = kept_count + 1
  local path = ("%s/%s-%d-%d.json"):format(folder, note.id:gsub("%W", ""), vim.fn.getpid(), kept_count)
  local content = vim.json.encode({
    id = note.id, uri = note.uri, run = run, time = os.time() * 1000 + kept_count % 1000,
    text = table.concat(note.shadow, "\n"),
  })
  local ok, problem = pcall(write, path, content)
  if not ok then return say.trouble(tostring(problem)) end
  note.kept = note.version
  if service.is_ready() then ask(path) end
end

-- Neovim waits for the service to end, and that takes long.
service.on_slow_end(function()
  if not next(files) then return end
  say.remember(line())
  vim.cmd("redraw")
  api.nvim_echo({ { ("Notes: " .. line()):sub(1, vim.v.echospace), "WarningMsg" } }, false, {})
  vim.cmd("redraw")
end)

-- A service that has ended as it was asked to has read and stored everything.
service.on_gone(function()
  if not service.has_ended_well() then return end
  for path in pairs(files) do uv.fs_unlink(path) end
  files = {}
end)

table.insert(note_of.listeners, {
  on_attach = function(note)
    api.nvim_create_autocmd("BufUnload", {
      group = api.nvim_create_augroup("notes_lsp_unsent_" .. note.buf, {}), buffer = note.buf,
      callback = function()
        note_of.flush(note, false)
        M.keep(note)
      end,
    })
  end,
  on_published = function(note)
    find_place()
    if note.version ~= (note.sent or 1) and not note.unread_since then await(note) end
    note.sent = note.version
  end,
  on_detach = function(note) pcall(api.nvim_del_augroup_by_name, "notes_lsp_unsent_" .. note.buf) end,
})

return M
