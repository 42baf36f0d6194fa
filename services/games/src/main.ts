import { loadConfig, runProcess } from '@backoffice/process'
import { startGames } from './program.ts'
import { settings } from './settings.ts'

await runProcess(() => startGames(loadConfig(settings, process.env)))
