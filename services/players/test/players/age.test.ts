import t from 'tap'
import { calendarDay, isAdult } from '../../src/players/player.ts'

t.test('a player is an adult from the 18th birthday on', async (t) => {
  const cases: readonly [birthDate: string, today: string, adult: boolean][] = [
    ['2008-03-02', '2026-03-01', false],
    ['2008-03-02', '2026-03-02', true],
    ['2008-02-29', '2026-02-28', false],
    ['2008-02-29', '2026-03-01', true],
    ['1900-01-01', '2026-03-01', true],
    ['2030-01-01', '2026-03-01', false],
  ]
  for (const [birthDate, today, adult] of cases) t.equal(isAdult(birthDate, today), adult, `${birthDate} on ${today}`)
})

t.test("the day is the brand's, not the server's", async (t) => {
  const now = new Date('2026-03-02T02:30:00.000Z')
  t.equal(calendarDay(now, 'America/Sao_Paulo'), '2026-03-01')
  t.equal(calendarDay(now, 'UTC'), '2026-03-02')
})
