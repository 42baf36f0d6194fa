import t from 'tap'
import { eventually } from '../src/index.ts'

t.test('it returns what the probe returns once it neither throws nor is false', async (t) => {
  let tries = 0
  const result = await eventually(() => {
    tries += 1
    if (tries === 1) throw new Error('not yet')
    return tries < 3 ? false : 'done'
  })
  t.equal(result, 'done')
  t.equal(tries, 3)
})

t.test('it gives up with the last failure', async (t) => {
  const fails = () => {
    throw new Error('never')
  }
  await t.rejects(eventually(fails, 50), /never/)
  await t.rejects(
    eventually(() => false, 50),
    /still false after 50 ms/,
  )
})
