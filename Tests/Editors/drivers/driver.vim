" What the drivers of Vim and Neovim need inside the editor. Both read this as legacy script.

" Counts the keys <F12>, which the driver types behind others: then those have been dealt with.
let g:driver_keys = 0
noremap <F12> <Cmd>let g:driver_keys += 1<CR>
noremap! <F12> <Cmd>let g:driver_keys += 1<CR>

function! s:Place(position) abort
  return a:position[1] . ':' . a:position[2]
endfunction

function! DriverState() abort
  let start = getcharpos('v')
  let end = getcharpos('.')
  if start[1] > end[1] || (start[1] == end[1] && start[2] > end[2])
    let [start, end] = [end, start]
  endif
  let end[2] += 1
  return {
    \ 'caret': s:Place(getcharpos('.')),
    \ 'selection': mode() =~# "^[vV\<C-v>]" ? s:Place(start) . '-' . s:Place(end) : v:null,
    \ 'top': line('w0'), 'mode': mode(1), 'keys': g:driver_keys, 'messages': execute('messages'),
    \ 'modified': &modified ? v:true : v:false, 'windows': winnr('$'), 'file': expand('%:t'),
    \ 'line': getline('.'), 'popup': pumvisible() ? v:true : v:false,
    \ }
endfunction

" Selects from a place to before another one.
function! DriverSelect(line, column, lastLine, lastColumn) abort
  let [line, column] = [a:lastLine, a:lastColumn - 1]
  set virtualedit=onemore
  call setcursorcharpos(a:line, a:column)
  normal! v
  set virtualedit=
  if column == 0
    call cursor(line - 1, 1)
    normal! $
  else
    call setcursorcharpos(line, column)
  endif
endfunction

" What the screen shows, line by line.
function! DriverScreen() abort
  redraw
  let columns = range(1, &columns)
  return join(map(range(1, &lines), {_, row -> join(map(copy(columns), {_, column -> screenstring(row, column)}), '')}), "\n")
endfunction
