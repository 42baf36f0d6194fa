// For what only calls services: the team's command line, the development stack. It loads nothing of a database.
export { connectNats } from './messages/connect.ts'
export { type CallOptions, RpcClient } from './messages/rpc-client.ts'
export { newId } from './process/ids.ts'
