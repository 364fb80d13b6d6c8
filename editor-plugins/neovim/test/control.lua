-- Lets a test drive a real Neovim: source this with NOTES_TEST_PORT set, and Neovim dials 127.0.0.1:port and takes a JSON
-- list on each line: ["expr", code, n] is answered with [n, value of the Lua expression]; ["ex", command] is carried out.

local note_of = require("notes_lsp.note")
local apply = require("notes_lsp.apply")
local say = require("notes_lsp.say")
local service = require("notes_lsp.service")

-- The current buffer as the plugin sees it.
function _G.NotesTestState()
  local note = note_of.of()
  local lines = apply.lines_of(0, false)
  return {
    text = table.concat(lines, "\n"),
    version = note and note.version or -1,
    rev = note and note.rev or -1,
    synced = note ~= nil and note.is_synced == true and not say.is_busy(),
    queue = note and #note.queue or 0,
    isShadowRight = note ~= nil and vim.deep_equal(note.shadow, lines),
    service = service.state,
  }
end

local function keys(text) return vim.api.nvim_replace_termcodes(text, true, false, true) end

-- Ends what is half typed, so that nothing is pending.
function _G.NotesTestSettle()
  vim.api.nvim_feedkeys(keys("<C-\\><C-n>"), "t", false)
  return true
end

local words = { "one", "two ", "three, ", " four", "x", "grün", "e\204\129a", "日本", "😀", "12 ", "-7", "\t", " " }
local operators = { "dw", "d$", "dd", "D", "2dd", "x", "3x", "J", "~", "cwnew<Esc>", "yyp", "yyP", "ddp", "gqap", "." }
local random = 0

-- A number below `limit`, the same for the same sequence of questions on every machine.
local function below(limit)
  random = (random * 1103515245 + 12345) % 2147483648
  return math.floor(random / 65536) % limit
end

local function one(list) return list[below(#list) + 1] end

local function phrase()
  local parts = {}
  for _ = 0, below(4) do table.insert(parts, one(words)) end
  return table.concat(parts)
end

-- Types one command; the same number always gives the same keys.
function _G.NotesTestRandomCommand(number)
  random = number
  for _ = 1, 3 do below(2) end
  local place = (below(vim.fn.line("$")) + 1) .. "G" .. (below(30) + 1) .. "|"
  local commands = {
    function() return "i" .. phrase() .. "<Esc>" end,
    function() return "A" .. phrase() .. "<CR>" .. phrase() .. "<Esc>" end,
    function() return "o" .. phrase() .. "<Esc>" end,
    function() return "O" .. phrase() .. "<CR><Esc>" end,
    function() return "i" .. phrase() .. "<BS><BS><C-w>" .. phrase() .. "<Esc>" end,
    function() return "R" .. phrase() .. "<Esc>" end,
    function() return one(operators) end,
    function() return one(operators) end,
    function() return "V" .. one({ "j", "k", "G" }) .. one({ "d", ">", "J", "y" }) end,
    function() return "<C-v>" .. one({ "j", "2j" }) .. "I" .. one(words) .. "<Esc>" end,
    function() return ":silent! %s/" .. one({ "one", "x", " " }) .. "/" .. one({ "y", "", "😀" }) .. "/g<CR>" end,
    function() return ":silent! g/" .. one({ "one", "^$" }) .. "/" .. one({ "d", "m0", "t." }) .. "<CR>" end,
    function() return ":silent! 1,20sort<CR>" end,
    function() return one({ "u", "<C-r>" }) end,
    function() return ":silent! w<CR>:silent! e!<CR>" end,
    function() return "G<C-v>r<CR>" end,
    function() return below(8) == 0 and "ggdG" or "o" .. phrase() .. "<Esc>" end,
  }
  vim.api.nvim_feedkeys(keys("<C-\\><C-n>" .. place .. one(commands)()), "t", false)
  return place
end

local function answer(socket, message)
  local kind, code, id = unpack(message)
  if kind == "ex" then
    local ok, problem = pcall(vim.cmd, code)
    if not ok then vim.api.nvim_echo({ { tostring(problem), "ErrorMsg" } }, true, {}) end
    return
  end
  local compiled = loadstring("return " .. code) or loadstring(code)
  local ok, value = pcall(compiled)
  if not ok or value == nil then value = vim.NIL end
  socket:write(vim.json.encode({ id, value }) .. "\n")
end

-- Neovim answers nothing while it asks whether to write a file, or for a key: says no, as a person would. (Vim answers, and the
-- next key says no.)
local waiting = 0
local function leave_question()
  local mode = vim.api.nvim_get_mode().mode
  if waiting > 0 and (mode == "r?" or mode == "r") then vim.api.nvim_input("<Esc>") end
end

local port = tonumber(vim.env.NOTES_TEST_PORT)
if port then
  local socket, pending = vim.loop.new_tcp(), ""
  vim.loop.new_timer():start(50, 50, leave_question)
  socket:connect("127.0.0.1", port, function(problem)
    if problem then os.exit(1) end
    socket:read_start(function(_, chunk)
      pending = pending .. (chunk or "")
      for line in pending:gmatch("([^\n]*)\n") do
        waiting = waiting + 1
        vim.schedule(function()
          waiting = waiting - 1
          answer(socket, vim.json.decode(line))
        end)
      end
      pending = pending:match("[^\n]*$")
    end)
  end)
end
