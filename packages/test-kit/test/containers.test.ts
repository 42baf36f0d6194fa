import t from 'tap'
import { areContainersWanted } from '../src/containers.ts'

t.test('containers are used when they are asked for, and another word is no answer', async (t) => {
  t.equal(areContainersWanted({}), false)
  t.equal(areContainersWanted({ BACKENDS: 'embedded' }), false)
  t.equal(areContainersWanted({ BACKENDS: 'containers' }), true)
  t.throws(() => areContainersWanted({ BACKENDS: 'docker' }), { message: 'BACKENDS is embedded or containers: docker' })
})
