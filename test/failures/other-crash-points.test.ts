// proof: every command that moves no money, and dies as crash-points.test.ts lets the others die.

import { isSlow } from '@backoffice/test-kit'
import t from 'tap'
import { commandsByTier } from './commands.ts'
import { CrashPoints } from './crash-points.ts'

if (!isSlow) process.env.EVERY_CASE = 'true'
const crashPoints = await CrashPoints.start(t)
crashPoints.try(t, commandsByTier.others)
crashPoints.reconciles(t)
