// Protects data where they are stored. It loads nothing of the table of operations; `copies` does, whose marks say what is
// sealed of a stored reply or message.
export { SecretBox, secretBoxFrom } from './secret-box.ts'
export { noVault, type Place, sealingSettings, type Vault, vaultFrom } from './vault.ts'
