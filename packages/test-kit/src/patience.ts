import { defined } from '@backoffice/contracts'
import { bePatient } from '@backoffice/process'

const { NODE_COMPILE_CACHE, PATIENCE } = process.env
const given = { DEVELOPMENT: 'true', ...defined({ PATIENCE }) }

// The clients of a test, the services in its process and the roles of its databases have it.
bePatient(given)

/** Of this process's environment: the folder of compiled modules, where there is one, and the patience. */
export const inherited: Readonly<Record<string, string>> = { ...given, ...defined({ NODE_COMPILE_CACHE }) }
