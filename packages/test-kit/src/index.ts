export { eventually } from './eventually.ts'
export { postgres } from './postgres.ts'
export { type System, type SystemOptions, startSystem } from './system.ts'
export { type TeamUser, type Teardown, type TestBed, type TestBedOptions, type TestRpc, testBed } from './test-bed.ts'
