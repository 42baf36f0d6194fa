// For tests: what a program needs no name for.
export { endSilentConnections } from './connect.ts'
export { compile, knownStatements } from './db.ts'
