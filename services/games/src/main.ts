import { loadConfig, runProcess } from '@backoffice/process'
import { settings, startGames } from './program.ts'

await runProcess(() => startGames(loadConfig(settings, process.env)))
