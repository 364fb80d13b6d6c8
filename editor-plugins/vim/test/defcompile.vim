vim9script
# Compiles every function of the plugin (tests are compiled by running them): vim -es -Nu NONE -S test/defcompile.vim
# Exit code 1 and the first error of each file on standard error if anything is wrong.

const root = expand('<sfile>:p:h:h')
&runtimepath = root .. ',' .. &runtimepath
var failed = false
for file in glob(root .. '/plugin/*.vim', true, true) + glob(root .. '/autoload/**/*.vim', true, true)
    + [root .. '/test/control.vim', root .. '/test/verdict.vim']
  # :defcompile compiles the functions of the script it stands in. It does not throw, so the error is looked up.
  const copy = tempname() .. '.vim'
  writefile(readfile(file) + ['defcompile'], copy)
  v:errmsg = ''
  execute 'silent! source' fnameescape(copy)
  delete(copy)
  if v:errmsg != ''
    failed = true
    writefile([$'{file}: {v:errmsg}'], '/dev/stderr', 'a')
  endif
endfor
execute failed ? 'cquit!' : 'qall!'
