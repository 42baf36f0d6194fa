import { WorkingCopy } from '../structure/working-copy.ts'
import { type FoundMutant, findNamedMutants } from './named.ts'

const usage = `npm run mutants -- [word]

Takes each guard of "exactly one effect" and of who may do what out of a copy of the repository, and runs the test that must notice.

  word   only guards with this word in their name: lease
`

const print = (line: string) => void process.stdout.write(`${line}\n`)

const [word = ''] = process.argv.slice(2)
if (word.startsWith('-')) {
  print(usage)
} else {
  const copy = new WorkingCopy()
  const passes = async ({ workspace, test }: FoundMutant) => {
    const args = ['--disable-warning=ExperimentalWarning', test]
    return (await copy.run(process.execPath, args, { folder: workspace, env: { TAP_BAIL: '1', EVERY_CASE: 'true' } }))
      .ok
  }
  try {
    for (const mutant of findNamedMutants().filter(({ guard }) => guard.includes(word))) {
      const isSound = await passes(mutant)
      copy.write(mutant.path, mutant.mutated)
      // A busy machine makes a test fail now and then. One that notices the mutant notices it again.
      const isKilled = isSound && !(await passes(mutant)) && !(await passes(mutant))
      copy.write(mutant.path, copy.original(mutant.path) ?? '')
      const fate = isKilled ? 'killed' : isSound ? 'survived' : 'not tried: the test fails without it'
      print(`${fate}  ${mutant.path}  without "${mutant.guard}"  (${mutant.test})`)
      if (!isKilled) process.exitCode = 1
    }
  } finally {
    copy.remove()
  }
}
