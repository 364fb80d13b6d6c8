vim9script
# Makes what others write (titles, names, messages) safe for one line of the screen. Vim itself makes controls harmless in
# buffers and on the last line, but hands them to the terminal in virtual text and in the titles of popups: there U+009B begins
# a command to the terminal, and U+202E reverses the rest of the line.

const directional = '[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]'
const unshown = '[\x01-\x1f\x7f\u0080-\u009f\u2028\u2029]\+'
# The same in a message, where JSON writes some of them as escapes.
const strange = '[\x7f\u0080-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]\|\\u00\|\\[bfnrt]'

# Members whose strings are shown on one line. Texts of notes are not among them.
const shownMembers = ['name', 'title', 'author', 'summary', 'message', 'line', 'label', 'shown', 'warning', 'owner', 'letter', 'via',
  'reason', 'peers', 'here', 'match']

export def Line(text: string): string
  return text =~ directional || text =~ unshown
    ? text->substitute(directional, '', 'g')->substitute(unshown, ' ', 'g') : text
enddef

# A message, decoded from `body`, with its titles and names made harmless in place. An edit is left as it is.
export def Clean(message: any, body: string): any
  if type(message) == v:t_dict && message->get('method', '') !=# 'notes/edit' && body =~ strange
    CleanMembers(message)
  endif
  return message
enddef

def CleanMembers(members: dict<any>)
  for [key, value] in members->items()
    if type(value) == v:t_string && shownMembers->index(key) >= 0
      members[key] = Line(value)
    elseif type(value) == v:t_dict
      CleanMembers(value)
      if key ==# 'match' && type(value->get('text')) == v:t_string
        value.text = Line(value.text)
      endif
    elseif type(value) == v:t_list
      CleanItems(value, shownMembers->index(key) >= 0)
    endif
  endfor
enddef

def CleanItems(items: list<any>, isShown: bool)
  for [index, value] in items->items()
    if type(value) == v:t_dict
      CleanMembers(value)
    elseif type(value) == v:t_list
      CleanItems(value, false)
    elseif type(value) == v:t_string && isShown
      items[index] = Line(value)
    endif
  endfor
enddef
