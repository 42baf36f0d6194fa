export { Child, type ChildOptions, type Exit } from './child.ts'
export {
  databaseUrl,
  roleUrl,
  sharedRolePasswords,
  withOtherRoles,
} from './database.ts'
export { choosePerson, logIn, type PersonLogin } from './identity/log-in.ts'
export { identityEnvironment, type Person, type TeamUser, teamPeople, teamUsers } from './identity/people.ts'
export { startIdentityProvider } from './identity/process.ts'
export { type IdentitySettings, identitySettings } from './identity/settings.ts'
export { StackPerson } from './identity/stack-person.ts'
export { type NatsOptions, type RunningNats, startNats } from './nats.ts'
export { natsServerBinary } from './nats-server-binary.ts'
export { freePort } from './ports.ts'
export { type PostgresOptions, type RunningPostgres, startPostgres, startThrowAwayPostgres } from './postgres.ts'
export { type StackSecrets, stackSecrets } from './secrets.ts'
export { isSetting } from './service-command.ts'
export {
  defaultStackFolder,
  type ProcessName,
  type ProgramName,
  readStack,
  type StackDescription,
  type StackOperator,
  stackFileIn,
} from './stack-file.ts'
