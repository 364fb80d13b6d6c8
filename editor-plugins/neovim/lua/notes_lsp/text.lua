-- Text as the service sees it: values only, no buffer is changed here.
--
-- A text is a list of lines, split at "\n"; a final newline shows as a last "". "" is {""}, "\n" is {"", ""}.
-- A position is {line, character}, both from 0, `character` in UTF-8 bytes. An edit is {range = {start, ["end"]}, newText}.

local M = {}

function M.position(line, character)
  return { line = line, character = character }
end

function M.is_before(one, other)
  return one.line < other.line or (one.line == other.line and one.character < other.character)
end

function M.is_same(one, other)
  return one.line == other.line and one.character == other.character
end

-- UTF-8 bytes of a text.
function M.byte_count(lines)
  local count = #lines - 1
  for _, line in ipairs(lines) do count = count + #line end
  return count
end

-- Replaces `count` lines from index `at` (from 0), in place.
function M.patch(lines, at, count, replacement)
  local total, grown = #lines, #replacement - count
  if grown ~= 0 then
    table.move(lines, at + count + 1, total, at + count + 1 + grown)
    for index = total, total + grown + 1, -1 do lines[index] = nil end
  end
  table.move(replacement, 1, #replacement, at + 1, lines)
end

local function is_inside_character(text, index)
  local byte = text:byte(index + 1)
  return byte ~= nil and byte >= 0x80 and byte < 0xC0
end

-- Bytes that two strings have in common at their start; never a part of a character.
function M.common_prefix(one, other)
  local count, most = 0, math.min(#one, #other)
  while count < most and one:byte(count + 1) == other:byte(count + 1) do count = count + 1 end
  while count > 0 and (is_inside_character(one, count) or is_inside_character(other, count)) do count = count - 1 end
  return count
end

-- Bytes that two strings have in common at their end, at most `most`; never a part of a character.
function M.common_suffix(one, other, most)
  local count = 0
  while count < most and one:byte(#one - count) == other:byte(#other - count) do count = count + 1 end
  while count > 0 and is_inside_character(one, #one - count) do count = count - 1 end
  return count
end

-- UTF-8 bytes between two positions.
function M.byte_count_in(lines, range)
  local first, last = range.start, range["end"]
  if first.line == last.line then return last.character - first.character end
  local count = #lines[first.line + 1] - first.character + 1 + last.character
  for index = first.line + 2, last.line do count = count + #lines[index] + 1 end
  return count
end

-- How many bytes at the start of a line stay, at most `front`: up to the caret, if the change may equally well have been
-- there. After a deletion at the end of a line the caret has moved back, so it does not help.
local function front_by_caret(front, old, new, caret)
  local growth = #new - #old
  local at = growth > 0 and caret.behind - growth or caret.character
  local has_stepped_back = growth < 0 and caret.behind > caret.character and caret.behind == #new
  if at < 0 or at >= front or has_stepped_back or is_inside_character(old, at) or is_inside_character(new, at)
    or old:sub(at - math.min(growth, 0) + 1) ~= new:sub(at + math.max(growth, 0) + 1) then
    return front
  end
  return at
end

-- The one edit that makes the lines `new` of `old`, whose place in the whole text `lines` is after `above` lines and
-- before `below`; nil if they are equal. The second result is by how many bytes the text grows.
--
-- `caret` {line, character, behind}: where the caret is now, and the end of the letter under it, or nil. It decides which of
-- several equal letters was deleted or typed, so that text that others inserted beside them stays in its place.
function M.difference(lines, above, below, new, caret)
  local total = #lines
  local front, back = 0, 0
  local old_count, new_count = total - above - below, #new
  local room = math.min(old_count, new_count)
  while front < room and lines[above + front + 1] == new[front + 1] do front = front + 1 end
  if front == old_count and front == new_count then return nil end
  room = room - front
  while back < room and lines[total - below - back] == new[new_count - back] do back = back + 1 end
  above, below = above + front, below + back
  local old_middle = vim.list_slice(lines, above + 1, total - below)
  local new_middle = vim.list_slice(new, front + 1, new_count - back)
  local text = table.concat(new_middle, "\n")
  local start, finish
  if #old_middle > 0 and #new_middle > 0 then
    -- Lines against lines: keep what the first have in common at their start and the last at their end.
    local old_last, new_last = old_middle[#old_middle], new_middle[#new_middle]
    local prefix = M.common_prefix(old_middle[1], new_middle[1])
    if #old_middle == 1 and #new_middle == 1 and caret and caret.line == above then
      prefix = front_by_caret(prefix, old_last, new_last, caret)
    end
    local most = math.min(
      #old_last - (#old_middle == 1 and prefix or 0), #new_last - (#new_middle == 1 and prefix or 0))
    local suffix = M.common_suffix(old_last, new_last, most)
    start = M.position(above, prefix)
    finish = M.position(above + #old_middle - 1, #old_last - suffix)
    text = text:sub(prefix + 1, #text - suffix)
  elseif below > 0 then
    -- Whole lines, with something under them.
    start, finish = M.position(above, 0), M.position(total - below, 0)
    if #new_middle > 0 then text = text .. "\n" end
  else
    -- Whole lines at the end of the text take the newline before them.
    start = M.position(above - 1, #lines[above])
    finish = M.position(total - 1, #lines[total])
    if #new_middle > 0 then text = "\n" .. text end
  end
  local edit = { range = { start = start, ["end"] = finish }, newText = text }
  return edit, #text - M.byte_count_in(lines, edit.range)
end

function M.clamped_position(lines, position)
  if position.line >= #lines then return M.position(#lines - 1, #lines[#lines]) end
  local line = math.max(position.line, 0)
  return M.position(line, math.min(math.max(position.character, 0), #lines[line + 1]))
end

-- The edits with every position inside the text, as the protocol clamps them. Throws unless they ascend without overlap.
function M.clamped(lines, edits)
  local result, from = {}, M.position(0, 0)
  for _, edit in ipairs(edits) do
    local start = M.clamped_position(lines, edit.range.start)
    local finish = M.clamped_position(lines, edit.range["end"])
    if M.is_before(start, from) or M.is_before(finish, start) or type(edit.newText) ~= "string" then
      error("its edits overlap or are out of order", 0)
    end
    table.insert(result, { range = { start = start, ["end"] = finish }, newText = edit.newText })
    from = finish
  end
  return result
end

-- Where a position is after an edit. One at the place of an insertion stays before it, or goes after it if `pushed`.
function M.carried(position, edit, pushed)
  local start, finish = edit.range.start, edit.range["end"]
  if M.is_before(position, start)
    or (M.is_same(position, start) and not (pushed and M.is_same(start, finish))) then
    return position
  end
  local _, line_count = edit.newText:gsub("\n", "")
  local last = #edit.newText:match("[^\n]*$")
  local new_end = M.position(start.line + line_count, last + (line_count == 0 and start.character or 0))
  if M.is_before(position, finish) then return new_end end
  if position.line > finish.line then
    return M.position(position.line - finish.line + new_end.line, position.character)
  end
  return M.position(new_end.line, new_end.character + position.character - finish.character)
end

-- One sequence of UTF-8 at `index`: its length in bytes, or nil if it is none that a note can hold.
local function sequence_length(text, index)
  local a, b, c, d = text:byte(index, index + 3)
  local function continues(byte) return byte ~= nil and byte >= 0x80 and byte < 0xC0 end
  if a < 0x80 then return a ~= 0 and a ~= 10 and 1 or nil end
  if a < 0xC2 or a > 0xF4 or not continues(b) then return nil end
  if a < 0xE0 then return 2 end
  if not continues(c) then return nil end
  if a < 0xF0 then return not ((a == 0xE0 and b < 0xA0) or (a == 0xED and b >= 0xA0)) and 3 or nil end
  if not continues(d) or (a == 0xF0 and b < 0x90) or (a == 0xF4 and b >= 0x90) then return nil end
  return 4
end

-- The line with everything that cannot go into a note (broken UTF-8, a NUL, and "\n", as which Neovim holds a NUL itself)
-- replaced by U+FFFD, or a NUL by `nul`; the line itself if it can.
function M.sendable(line, nul)
  if not line:find("[\128-\255%z\n]") then return line end
  local parts, index, from = nil, 1, 1
  while index <= #line do
    local length = sequence_length(line, index)
    if not length then
      parts = parts or {}
      table.insert(parts, line:sub(from, index - 1) .. (line:byte(index) == 0 and nul or "\239\191\189"))
      from = index + 1
    end
    index = index + (length or 1)
  end
  return parts and table.concat(parts) .. line:sub(from) or line
end

-- Makes what others write (titles, names, messages) safe for one line of the screen: without controls, which a
-- terminal obeys, and without the characters that reverse the rest of a line.
function M.shown(text)
  if type(text) ~= "string" then return "" end
  text = M.sendable((text:gsub("[%z\n]", " ")))
  text = text:gsub("\216\156", ""):gsub("\226\128[\142\143\170-\174]", ""):gsub("\226\129[\166-\169]", "")
  return (text:gsub("\194[\128-\159]", " "):gsub("\226\128[\168\169]", " "):gsub("[%c]+", " "))
end

return M
