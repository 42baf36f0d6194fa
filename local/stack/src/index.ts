export { Child, type ChildOptions, type Exit, isRunning } from './child.ts'
export { choosePerson, logIn, type PersonLogin, StackPerson } from './identity/log-in.ts'
export {
  type IdentitySettings,
  identityEnvironment,
  type Person,
  type TeamUser,
  teamPeople,
  teamUsers,
} from './identity/people.ts'
export {
  type NatsOptions,
  natsServerBinary,
  natsServerVersion,
  natsServerWarning,
  type RunningNats,
  startNats,
} from './nats.ts'
export { freePort } from './ports.ts'
export {
  databaseUrl,
  type PostgresOptions,
  type RunningPostgres,
  roleUrl,
  sharedRolePasswords,
  startPostgres,
  startThrowAwayPostgres,
  withOtherRoles,
} from './postgres.ts'
export { identitySettings, type StackSecrets, stackSecrets } from './secrets.ts'
export { compileServices, heapOptions, isSetting, servicesCache, startIdentityProvider } from './services.ts'
export {
  defaultStackFolder,
  type ProcessName,
  type ProgramName,
  readStack,
  type StackDescription,
  type StackOperator,
  stackFileIn,
} from './stack-file.ts'
