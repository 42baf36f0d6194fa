import { setTimeout } from 'node:timers/promises'
import t from 'tap'
import { captured } from '../src/captured.ts'

t.test('what others write meanwhile, such as results of tests, is not taken from them', async (t) => {
  const others = setTimeout(10).then(() => process.stdout.write('# of somebody else\n'))
  const { stdout } = await captured(async () => {
    await others
    process.stdout.write('of the program\n')
  })
  t.equal(stdout, 'of the program\n')
})
