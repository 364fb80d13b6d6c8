-- Scratch windows: lists of notes, people and changes, and plain reports. q closes one.

local api = vim.api
local text = require("notes_lsp.text")
local M = {}

local function buffer_named(name)
  for _, buf in ipairs(api.nvim_list_bufs()) do
    if api.nvim_buf_is_loaded(buf) and vim.b[buf].notes_lsp_view == name then return buf end
  end
end

function M.is_shown(name)
  local buf = buffer_named(name)
  return buf ~= nil and vim.fn.bufwinid(buf) > 0
end

local function set_lines(buf, lines)
  lines = vim.tbl_map(text.shown, lines)
  if vim.deep_equal(lines, api.nvim_buf_get_lines(buf, 0, -1, true)) then return end
  local views = vim.tbl_map(function(window)
    return { window, api.nvim_win_call(window, vim.fn.winsaveview) }
  end, vim.fn.win_findbuf(buf))
  vim.bo[buf].modifiable = true
  api.nvim_buf_set_lines(buf, 0, -1, true, lines)
  vim.bo[buf].modifiable = false
  for _, it in ipairs(views) do
    api.nvim_win_call(it[1], function() vim.fn.winrestview(it[2]) end)
  end
end

-- Shows lines in the window of that name, or a new one, with what keys do there. `rows` are what the lines are about: a key's
-- action gets the row under the cursor.
function M.show(name, lines, rows, keys)
  local buf = buffer_named(name)
  if buf and vim.fn.bufwinid(buf) > 0 then
    api.nvim_set_current_win(vim.fn.bufwinid(buf))
  else
    local from = api.nvim_get_current_win()
    vim.cmd("botright new")
    buf = api.nvim_get_current_buf()
    vim.b[buf].notes_lsp_view = name
    pcall(api.nvim_buf_set_name, buf, "[" .. name .. "]")
    local options = vim.bo[buf]
    options.buftype, options.bufhidden, options.swapfile, options.buflisted = "nofile", "wipe", false, false
    options.modifiable = false
    vim.wo.wrap, vim.wo.cursorline, vim.wo.number = false, true, false
    vim.keymap.set("n", "q", function()
      vim.cmd("close")
      if api.nvim_win_is_valid(from) then api.nvim_set_current_win(from) end
    end, { buffer = buf })
  end
  M.fill(name, lines, rows)
  for key, act in pairs(keys or {}) do
    vim.keymap.set("n", key, function()
      local row = (M.rows[name] or {})[vim.fn.line(".")]
      if row then act(row) end
    end, { buffer = buf })
  end
  return buf
end

M.rows = {}

-- Replaces what is in a window that is shown.
function M.fill(name, lines, rows)
  local buf = buffer_named(name)
  M.rows[name] = rows
  if buf then set_lines(buf, lines) end
end

-- A time of the service, in milliseconds, seconds or as an ISO date, as day and minute.
function M.day(time)
  if type(time) == "string" then return (time:sub(1, 16):gsub("T", " ")) end
  return os.date("%Y-%m-%d %H:%M", math.floor((time or 0) > 1e11 and time / 1000 or time or 0))
end

-- Text, one line each, padded to the width of the widest.
function M.padded(texts)
  local width = 0
  texts = vim.tbl_map(text.shown, texts)
  for _, it in ipairs(texts) do width = math.max(width, vim.fn.strdisplaywidth(it)) end
  return vim.tbl_map(function(it) return it .. (" "):rep(width - vim.fn.strdisplaywidth(it)) end, texts)
end

return M
