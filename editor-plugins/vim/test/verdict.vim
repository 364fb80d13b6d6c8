vim9script
# How a test file ends: v:errors in the file $NOTES_TEST_REPORT or on standard error, one a line, and an exit code.

export def Tell()
  writefile(v:errors, $NOTES_TEST_REPORT == '' ? '/dev/stderr' : $NOTES_TEST_REPORT, 'a')
  execute empty(v:errors) ? 'qall!' : 'cquit!'
enddef

# Runs every test of a file: a list of [name, function]. A failure carries the test's name.
export def Run(tests: list<list<any>>)
  for [name, Test] in tests
    const before = len(v:errors)
    try
      call(Test, [])
    catch
      v:errors->add($'{v:exception} ({v:throwpoint})')
    endtry
    if len(v:errors) > before
      v:errors->add($'  in: {name}')
    endif
    silent! bwipeout!
  endfor
  Tell()
enddef
