// proof: every command that moves no money, and a third of its deaths, as crash-points.test.ts lets the others die.

import t from 'tap'
import { commandsByTier } from './commands.ts'
import { CrashPoints } from './crash-points.ts'

const crashPoints = await CrashPoints.start(t)
crashPoints.try(t, commandsByTier.others)
crashPoints.reconciles(t)
