vim9script
# Scratch buffers for reports and lists.

const maximumKept = 4

# Shows lines in the scratch buffer of that name, in its window or a new one.
export def Show(name: string, lines: list<string>)
  # The windows to go back to, the nearest first: a list may have been opened from a list.
  const from = [win_getid()] + b:->get('notes_lsp_from', [])
  const existing = Number(name)
  if existing > 0 && bufwinid(existing) > 0
    win_gotoid(bufwinid(existing))
  elseif existing > 0
    execute $'silent botright sbuffer {existing}'
  else
    botright new
    setlocal buftype=nofile bufhidden=hide noswapfile nobuflisted nomodifiable nowrap cursorline
    setlocal nonumber norelativenumber signcolumn=no foldcolumn=0 nolist nospell
    execute $'silent file {fnameescape(name)}'
  endif
  if win_getid() != from[0]
    b:notes_lsp_from = from[: maximumKept - 1]
  endif
  nnoremap <buffer> <silent> <nowait> q <ScriptCmd>Close()<CR>
  SetLines(bufnr(), lines)
enddef

# Closes a list and returns to the window that the user came from, which may not be the one that Vim would choose.
export def Close()
  const from = b:->get('notes_lsp_from', [])
  if winnr('$') == 1 && tabpagenr('$') == 1
    enew
  else
    close
  endif
  for window in from
    if win_gotoid(window)
      return
    endif
  endfor
enddef

# Adds lines at the end of a scratch buffer that Show has made, if it is still there.
export def Append(name: string, lines: list<string>)
  const bufnr = Number(name)
  if bufnr > 0
    SetLines(bufnr, getbufline(bufnr, 1, '$') + lines)
  endif
enddef

export def Number(name: string): number
  for info in getbufinfo()
    if fnamemodify(info.name, ':t') ==# name && getbufvar(info.bufnr, '&buftype') =~# '^\%(nofile\|acwrite\)$'
      return info.bufnr
    endif
  endfor
  return -1
enddef

# Sets the lines of a buffer. Equal lines are not touched, so that nothing flickers.
export def SetLines(bufnr: number, lines: list<string>)
  const shown = getbufline(bufnr, 1, '$')
  if shown ==# lines
    return
  endif
  const shared = min([len(shown), len(lines)])
  var first = 0
  while first < shared && shown[first] ==# lines[first]
    first += 1
  endwhile
  setbufvar(bufnr, '&modifiable', true)
  if first < len(lines)
    setbufline(bufnr, first + 1, lines[first :])
  endif
  if len(shown) > len(lines)
    silent deletebufline(bufnr, len(lines) + 1, '$')
  endif
  setbufvar(bufnr, '&modifiable', false)
  setbufvar(bufnr, '&modified', false)
enddef
