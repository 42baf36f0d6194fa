import { gateway } from '@backoffice/gateway'
import { webhooks } from '@backoffice/webhooks'
import t from 'tap'
import { consoleBed, formOf } from './console-bed.ts'

const bed = await consoleBed(t, {}, {}, { gateway, webhooks })

t.test('one sees one’s own sessions, ends one of them, and then all', async (t) => {
  const [one, two] = [await bed.visitor('support'), await bed.visitor('support')]
  await one.get('/production')
  const list = await two.get('/production/sessions')
  t.equal(list.status, 200)
  t.equal(list.text.match(/this one/g)?.length, 1)
  const paths = [...list.text.matchAll(/href="(\/production\/sessions\/[\w-]+)"/g)].map(([, path = '']) => path)
  t.equal(paths.length, 2)
  const pages = await Promise.all(paths.map(async (path) => ({ path, shown: await two.get(path) })))
  const other = pages.find(({ shown }) => !shown.text.includes('this one'))?.path ?? ''
  t.match(await two.submit(other, 'end'), { status: 303, location: '/production/sessions' })
  t.match(await one.get('/production'), { status: 303, location: /why=ended/ })

  t.match(await two.submit('/production/sessions', 'endAll'), { status: 303 })
  t.match(await two.get('/production/sessions'), { status: 303, location: /why=ended/ })
})

t.test('who may lock finds the account under People; whoever is locked is told so', async (t) => {
  const [ines, carla] = [await bed.visitor('integration'), await bed.visitor('compliance')]
  await carla.get('/production')
  const people = await ines.get('/production/people')
  const [, row = ''] = /href="(\/production\/people\?member=[^"]*compliance)"/.exec(people.text) ?? []
  t.match((await ines.get(row)).text, /name="member"[^>]*>https:\/\/identity.test compliance</)
  const member = 'https://identity.test compliance'
  const lock = { ...formOf(people, '/production/people/lock'), member, reason: 'her laptop was stolen' }
  t.match(await ines.post('/production/people/lock', lock), { status: 303, location: '/production/people' })
  t.match((await ines.get('/production/people')).text, /id="locked"/)
  t.match(await carla.get('/production'), { status: 303, location: /why=locked/ })
  t.match((await (await bed.visitor('compliance')).get('/production')).location, /why=locked/, 'with a new login too')
  const unlock = { ...formOf(await ines.get('/production/people'), '/production/people/unlock'), member, reason: 'r' }
  t.match(await ines.post('/production/people/unlock', unlock), { status: 303 })
  t.match((await ines.get('/production/proposals')).text, /Unlock an account/)
  t.notMatch((await (await bed.visitor('finance')).get('/production/people')).text, /people\/lock/)
})
