import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { asAccount, serverAccount } from '../src/server-account.ts'

const notRoot = userInfo().uid !== 0 && 'only root hands PostgreSQL to another account'

t.test('root hands a program in a private folder to another account', { skip: notRoot }, async (t) => {
  const home = join(t.testdir(), 'home')
  mkdirSync(home)
  const program = join(home, 'program')
  // As PostgreSQL does, it asks whether it can be executed before it believes in itself.
  writeFileSync(program, '#!/bin/sh\n[ -x "$0" ] && id -u\n', { mode: 0o755 })
  chmodSync(home, 0o700)
  const account = serverAccount(undefined)
  const { command, args, ...ids } = asAccount(account, program, [], home)
  t.equal(execFileSync(command, args, { ...ids, encoding: 'utf8' }).trim(), String(account?.uid))
  t.not(account?.uid, 0)
})

t.test('without root, PostgreSQL runs as ourselves', { skip: !notRoot && 'we are root' }, async (t) => {
  t.equal(serverAccount(undefined), undefined)
  t.same(asAccount(undefined, '/bin/true', ['x'], '/'), { command: '/bin/true', args: ['x'] })
})
