-- What the user reads on the last line: one message at a time, never in the middle of a command, and never over a warning
-- that has not been read.
--
--     news, warn ──► waiting ──nothing unread, nothing pending──► shown ──a key──► read

local text = require("notes_lsp.text")
local M = {}

local maximum_waiting, shown_ms = 20, 2000
local waiting, is_unread, is_pausing = {}, false, false
local told, key_count = {}, 0
-- All messages, also those that passed quickly.
M.log = {}
local most_logged = 500

-- Whether typing began in a blockwise selection. When it ends, after InsertLeave, Neovim repeats it on the other lines, which it
-- knows by their numbers.
local is_column = false
local group = vim.api.nvim_create_augroup("notes_lsp_say", {})

vim.api.nvim_create_autocmd("ModeChanged", {
  group = group,
  callback = function()
    if vim.v.event.old_mode == "\22" and vim.v.event.new_mode == "i" then is_column = true end
    if is_column and vim.v.event.new_mode:sub(1, 1) ~= "i" then vim.schedule(function() is_column = false end) end
  end,
})

-- Whether a change or a message that does not come from the user would hit the wrong place now: Neovim waits in the middle
-- of a command, or for an answer.
function M.is_busy()
  local mode = vim.api.nvim_get_mode()
  return mode.blocking or is_column or mode.mode:find("^no") ~= nil or mode.mode:find("^[cr!]") ~= nil
    or vim.fn.pumvisible() == 1 or vim.fn.getcmdwintype() ~= ""
end

-- How many keys the user has pressed.
function M.keys() return key_count end

-- Whether the user has done nothing since there were `keys`: what opens now takes no key that is meant for something else.
function M.is_idle(keys) return keys == key_count and vim.api.nvim_get_mode().mode:find("^nt?$") ~= nil and not M.is_busy() end

-- A message that does not fit would cause a prompt that blocks Vim, so it is cut.
local function fitting(line)
  local room = vim.v.echospace
  if vim.fn.strdisplaywidth(line) <= room then return line end
  while line ~= "" and vim.fn.strdisplaywidth(line) > room - 1 do
    line = vim.fn.strcharpart(line, 0, vim.fn.strchars(line) - 1)
  end
  return line .. "…"
end

-- Whether the last line is the mode's: Neovim writes that over a message, and clears the line when the mode ends.
local function is_last_line_taken()
  return vim.o.showmode and vim.api.nvim_get_mode().mode:find("^[iR]") ~= nil
end

local function show()
  if #waiting == 0 or is_unread or is_pausing or is_last_line_taken() then return end
  if M.is_busy() then
    vim.defer_fn(show, 50)
    return
  end
  local message = table.remove(waiting, 1)
  is_unread = message.is_warning
  vim.cmd("redraw")
  vim.api.nvim_echo({ { fitting("Notes: " .. message.line), message.is_warning and "WarningMsg" or nil } }, true, {})
  if #waiting > 0 then
    is_pausing = true
    vim.defer_fn(function()
      is_pausing = false
      show()
    end, shown_ms)
  end
end

-- Adds a line to :NotesLog without showing it.
function M.remember(line)
  table.insert(M.log, os.date("%H:%M:%S  ") .. text.shown(line))
  if #M.log > most_logged then table.remove(M.log, 1) end
end

-- `is_first`: says where the user's words are, and goes before everything else.
local function add(message, is_warning, is_first)
  local line = vim.trim((text.shown(message):gsub("%s+", " ")))
  if line == "" or (#waiting > 0 and waiting[#waiting].line == line) then return end
  M.remember(line)
  local place = #waiting + 1
  while is_first and place > 1 and not waiting[place - 1].is_first do place = place - 1 end
  table.insert(waiting, place, { line = line, is_warning = is_warning, is_first = is_first })
  for index, it in ipairs(waiting) do
    if #waiting > maximum_waiting and not it.is_warning then table.remove(waiting, index) end
  end
  show()
end

-- A message that waits until the user has read others.
function M.news(message) add(message, false) end

-- A problem, or news that the user must see: stays until a key is pressed.
function M.warn(message) add(message, true) end

-- Shows the line of an event, as urgent as the service says. Of several people the one who points is named.
function M.event(event)
  local line = (event.line or event.message or "") .. (event.kind == "pointed" and " " .. (event.name or "") or "")
  add(line, event.level ~= "news", event.level == "words")
end

-- Says what the service says that a request has done.
function M.outcome(result) M.news(result.message or "") end

-- Drops the messages with `part` that wait: the user does what they ask for.
function M.forget(part)
  waiting = vim.tbl_filter(function(it) return not it.line:find(part, 1, true) end, waiting)
end

-- A mistake in the plugin itself, reported once.
function M.trouble(what)
  if not told[what] then
    told[what] = true
    M.warn(what)
  end
end

-- Runs `act` now, or as soon as the user is not in the middle of something.
function M.when_free(act)
  if M.is_busy() then
    vim.defer_fn(function() M.when_free(act) end, 30)
  else
    act()
  end
end

-- The user has pressed a key, and so has seen the last line.
vim.on_key(function()
  key_count = key_count + 1
  if is_unread then
    is_unread = false
    vim.schedule(show)
  end
end, vim.api.nvim_create_namespace("notes_lsp_keys"))

-- What came while the last line was the mode's is shown now. Of several pieces of news the last will do: :NotesLog has all.
vim.api.nvim_create_autocmd("ModeChanged", {
  group = group, pattern = "[iR]*:n",
  callback = function()
    local is_last = true
    for index = #waiting, 1, -1 do
      if not waiting[index].is_warning then
        if not is_last then table.remove(waiting, index) end
        is_last = false
      end
    end
    vim.schedule(show)
  end,
})

return M
