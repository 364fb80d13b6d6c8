vim9script
# Compiles every function of the plugin (tests are compiled by running them): vim -es -Nu NONE -S test/defcompile.vim; exit code 1 on any error.

const root = expand('<sfile>:p:h:h')
&runtimepath = root .. ',' .. &runtimepath
var failed = false
for file in glob(root .. '/plugin/*.vim', true, true) + glob(root .. '/autoload/**/*.vim', true, true)
    + [root .. '/test/control.vim', root .. '/test/verdict.vim']
  const copy = tempname() .. '.vim'
  # A script's own functions are compiled by a :defcompile inside it.
  writefile(readfile(file) + ['defcompile'], copy)
  try
    execute 'source' fnameescape(copy)
  catch
    failed = true
    writefile([$'{file}: {v:exception} ({v:throwpoint})'], '/dev/stderr', 'a')
  endtry
  delete(copy)
endfor
execute failed ? 'cquit!' : 'qall!'
