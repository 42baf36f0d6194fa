// Protects data where they are stored.
export {
  digestToKeep,
  isEventToSeal,
  isReplyToSeal,
  noVault,
  openMessage,
  type Place,
  placeOfPayload,
  placeOfReply,
  renewMessage,
  SecretBox,
  type StoredMessage,
  sealingSettings,
  sealMessage,
  secretBoxFrom,
  type Vault,
  vaultFrom,
} from './vault.ts'
