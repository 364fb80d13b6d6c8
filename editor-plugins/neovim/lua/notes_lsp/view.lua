-- Scratch windows: plain reports, and live lists that the service lays out. q closes one.

local api = vim.api
local text = require("notes_lsp.text")
local say = require("notes_lsp.say")
local service = require("notes_lsp.service")
local M = {}

-- Several events at once cause one request.
local news_pause_ms = 100
-- How many lines to request first; the rest is requested when it comes into view.
local first_page = 200
-- By name: {method, params, lines, rows, token, is_asking, is_stale, is_new}. A row has what the keys on its line act on; `token` names
-- what is shown, so that only what has changed is sent again.
local lists = {}
local is_planned = false

local function buffer_named(name)
  for _, buf in ipairs(api.nvim_list_bufs()) do
    if api.nvim_buf_is_loaded(buf) and vim.b[buf].notes_lsp_view == name then return buf end
  end
end

local function set_lines(buf, lines)
  if vim.deep_equal(lines, api.nvim_buf_get_lines(buf, 0, -1, true)) then return end
  vim.bo[buf].modifiable = true
  api.nvim_buf_set_lines(buf, 0, -1, true, lines)
  vim.bo[buf].modifiable, vim.bo[buf].modified = false, false
end

-- Makes the current buffer a view of that name.
function M.adopt(name, from)
  local buf = api.nvim_get_current_buf()
  vim.b[buf].notes_lsp_view = name
  local options = vim.bo[buf]
  options.swapfile, options.modifiable = false, false
  vim.wo.wrap, vim.wo.cursorline, vim.wo.number = false, true, false
  vim.keymap.set("n", "q", function()
    if not pcall(vim.cmd, "close") then vim.cmd("enew") end
    if from and api.nvim_win_is_valid(from) then api.nvim_set_current_win(from) end
  end, { buffer = buf })
end

-- Shows lines in the window of that name, or in a new one.
function M.show(name, lines)
  local buf = buffer_named(name)
  if buf and vim.fn.bufwinid(buf) > 0 then
    api.nvim_set_current_win(vim.fn.bufwinid(buf))
  else
    local from = api.nvim_get_current_win()
    vim.cmd("botright new")
    buf = api.nvim_get_current_buf()
    pcall(api.nvim_buf_set_name, buf, "[" .. name .. "]")
    vim.bo[buf].buftype, vim.bo[buf].bufhidden, vim.bo[buf].buflisted = "nofile", "wipe", false
    M.adopt(name, from)
  end
  if lines then set_lines(buf, vim.tbl_map(text.shown, lines)) end
  return buf
end

-- Gives the view of that name, if it is there, other lines.
function M.replace(name, lines)
  local buf = buffer_named(name)
  if buf then set_lines(buf, vim.tbl_map(text.shown, lines)) end
end

-- Closes the window of that name. Returns whether there was one.
function M.close(name)
  local buf = buffer_named(name)
  local window = buf and vim.fn.bufwinid(buf) or -1
  return window > 0 and pcall(api.nvim_win_close, window, true)
end

-- Lines in the middle of the screen, until the next key or move.
function M.show_over(lines)
  local width, height = 0, math.min(#lines, vim.o.lines - 4)
  for _, line in ipairs(lines) do width = math.max(width, vim.fn.strdisplaywidth(line)) end
  local buf = api.nvim_create_buf(false, true)
  api.nvim_buf_set_lines(buf, 0, -1, true, lines)
  vim.bo[buf].modifiable, vim.bo[buf].bufhidden = false, "wipe"
  local window = api.nvim_open_win(buf, true, {
    relative = "editor", style = "minimal", border = "single", width = width, height = height,
    row = math.max(0, math.floor((vim.o.lines - height) / 2) - 2), col = math.max(0, math.floor((vim.o.columns - width) / 2) - 1),
  })
  local ruler = vim.o.ruler
  -- This window has no status line: its ruler would stay on the last line.
  vim.o.ruler = false
  local function close()
    vim.o.ruler = ruler
    pcall(api.nvim_win_close, window, true)
  end
  for _, key in ipairs({ "q", "?", "<Esc>", "<CR>", "<Space>" }) do vim.keymap.set("n", key, close, { buffer = buf, nowait = true }) end
  api.nvim_create_autocmd("WinLeave", { buffer = buf, once = true, callback = close })
end

-- Identifies a row, whichever line it is on.
local function key_of(row)
  if not row or next(row) == nil then return nil end
  return table.concat({ row.id or "", row.item or "", row.peer or "", table.concat(row.heads or {}, ",") }, " ")
end

local function line_of(rows, key)
  for index, row in ipairs(rows) do
    if key_of(row) and (not key or key_of(row) == key) then return index end
  end
end

local headings = api.nvim_create_namespace("notes_lsp_headings")

-- `shown` with the answer applied: `result` replaces all of it, or some lines.
local function spliced(shown, result, part)
  if not result.first then return result[part] or {} end
  local all = vim.list_slice(shown, 1, result.first)
  vim.list_extend(all, result[part])
  return vim.list_extend(all, shown, result.first + result.removed + 1)
end

local function fill(name, result)
  local buf, list = buffer_named(name), lists[name]
  if not buf then return end
  local is_first, places = list.is_new or not line_of(list.rows), {}
  list.is_new = false
  for _, window in ipairs(vim.fn.win_findbuf(buf)) do
    places[window] = key_of(list.rows[api.nvim_win_get_cursor(window)[1]])
  end
  list.rows, list.lines = spliced(list.rows, result, "rows"), spliced(list.lines, result, "lines")
  list.token = result.token
  local lines = list.lines
  set_lines(buf, #lines > 0 and lines or { "" })
  api.nvim_buf_clear_namespace(buf, headings, 0, -1)
  for index, row in ipairs(list.rows) do
    if not key_of(row) then api.nvim_buf_add_highlight(buf, headings, "Title", index - 1, 0, -1) end
  end
  for _, window in ipairs(vim.fn.win_findbuf(buf)) do
    local line = (is_first or places[window]) and line_of(list.rows, places[window])
    if line then api.nvim_win_set_cursor(window, { line, 0 }) end
  end
end

-- `opens`: the user opens the list, so its earlier news is no longer new.
local function ask(name, opens)
  local list, buf = lists[name], buffer_named(name)
  if not buf then return end
  if list.is_asking then
    list.is_stale = true
    return
  end
  list.is_asking, list.is_stale = true, false
  local window = vim.fn.bufwinid(buf)
  local params = vim.tbl_extend("force", list.params,
    { width = window > 0 and api.nvim_win_get_width(window) or vim.o.columns, opens = opens, since = list.token,
      atMost = not list.token and first_page or nil })
  service.request(list.method, params, function(answer)
    list.is_asking = false
    say.when_free(function()
      if lists[name] ~= list then return end
      if answer.error then
        -- There is nothing to list.
        if #list.rows == 0 then M.close(name) end
        say.warn(answer.error.message)
      else
        fill(name, answer.result or {})
      end
      if (answer.result or {}).more then
        ask(name, false)
      elseif list.is_stale then
        M.refresh()
      end
    end)
  end)
end

-- Shows the answer to a request in the window of that name. `keys`: each {key, words, member, act}; `act` gets the row under the
-- cursor, which must have the member, unless that is nil.
function M.list(name, method, params, keys)
  local was_shown = buffer_named(name) ~= nil
  local buf = M.show(name)
  local known = lists[name]
  local is_same = known and known.method == method and vim.deep_equal(known.params, params)
  lists[name] = is_same and known or { method = method, params = params, lines = {}, rows = {} }
  lists[name].is_new = not was_shown
  for _, it in ipairs(keys) do
    local key, _, member, act = unpack(it)
    vim.keymap.set("n", key, function()
      local row = (lists[name].rows or {})[vim.fn.line(".")] or {}
      if member and row[member] == nil then return say.warn("Move to a line with an entry first") end
      act(row)
    end, { buffer = buf, nowait = true })
  end
  vim.keymap.set("n", "?", function()
    local lines = vim.tbl_map(function(it) return ("%-6s %s"):format(it[1], it[2]) end, keys)
    M.show_over(vim.list_extend(lines, { "q      close this list" }))
  end, { buffer = buf, nowait = true })
  ask(name, true)
end

-- What the list under the cursor is about.
function M.target()
  local list = lists[vim.b.notes_lsp_view or ""]
  return list and list.params or {}
end

-- The note that the list, or the row under the cursor, is about; nil if there is none.
function M.note_id()
  local list = lists[vim.b.notes_lsp_view or ""]
  return list and (list.params.id or (list.rows[vim.fn.line(".")] or {}).id)
end

-- Something has happened: soon requests again what is on the screen.
function M.refresh()
  if is_planned then return end
  is_planned = true
  vim.defer_fn(function()
    is_planned = false
    for name in pairs(lists) do
      if vim.fn.bufwinid(buffer_named(name) or -1) > 0 and service.is_ready() then ask(name, false) end
    end
  end, news_pause_ms)
end
api.nvim_create_autocmd("BufWinEnter", { callback = M.refresh })

-- A time of the service, in milliseconds, seconds or as an ISO date, as day and minute.
function M.day(time)
  if type(time) == "string" then return (time:sub(1, 16):gsub("T", " ")) end
  return os.date("%Y-%m-%d %H:%M", math.floor((time or 0) > 1e11 and time / 1000 or time or 0))
end

return M
