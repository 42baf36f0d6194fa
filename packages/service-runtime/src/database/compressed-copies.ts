import { deflateRawSync, inflateRawSync } from 'node:zlib'

/**
 * What bodies of replies and events have in common; what is most frequent stands last. With it a copy takes a third of its
 * bytes, and without it two thirds. Never change it: stored copies can be read with this text alone. Another text needs
 * another marker.
 */
const dictionary = Buffer.from(
  '{"error":{"code":"SERVICE_UNAVAILABLE","message":"VALIDATION_ERROR","requestId":"req_01","details":{"issues":[{"in":"body","path":"/' +
    '"operatorId":"op_01","brandId":"brd_01","gameUrl":"https://","mode":"demo","expiresAt":"2026-","gameId":"' +
    '"birthDate":"19","email":"","phone":null,"cpf":"","name":"","externalId":"user-","selfExclusion":null,"dailyDepositLimit":null' +
    '"kycStatus":"aprovado","previousStatus":"em_analise","submissions":[{"id":"kyc_01","documentType":"rg","reference":"","submittedAt":"2026-' +
    '"type":"kyc.status_changed","status":"ativo","nao_iniciado","decidedAt":"2026-' +
    '"destination":"","status":"under_review","reason":null,"reviewedAt":null,"paidAt":null,"type":"withdrawal.status_changed","id":"wdr_01' +
    '{"id":"dep_01","playerId":"ply_01","amount":"00.00","currency":"BRL","method":"pix","externalReference":"","status":"pending",' +
    '"failureReason":null,"createdAt":"2026-11-01T00:00:00.000Z","confirmedAt":null,"failedAt":null}' +
    '{"id":"evt_01","type":"deposit.confirmed","apiVersion":"1.1.0","environment":"sandbox","environment":"production",' +
    '"operatorId":"op_01","brandId":"brd_01","createdAt":"2026-11-01T00:00:00.000Z","data":{"id":"dep_01","playerId":"ply_01",' +
    '"amount":"50.00","currency":"BRL","method":"pix","externalReference":"","status":"confirmed","failureReason":null,' +
    '"createdAt":"2026-11-01T00:00:00.000Z","confirmedAt":"2026-11-01T00:00:00.000Z","failedAt":null,"previousStatus":"pending","version":2}}',
)

/** Stand before what was compressed. Neither a JSON text nor what is sealed begins with one of them. */
const markers = { dictionary: 1, dictionaryAndRow: 2 } as const
/** Of 4 KiB: the dictionary and a body fit, and a larger window would cost more time than it saves bytes. */
const shape = { windowBits: 12, memLevel: 5 } as const
/** More than a reply or an event can have. */
const bytesMax = 4 * 1024 ** 2

/** What a row says besides its copy, such as ids that the copy has too. With it the copy is shorter. */
const dictionaryWith = (beside: string): Buffer =>
  beside === '' ? dictionary : Buffer.concat([Buffer.from(beside), dictionary])

/**
 * A copy as it is stored: compressed, if that is shorter, or if it could be taken for one that is.
 * @param beside what else the row says. The copy can be read with this text alone
 */
export function compressCopy(bytes: Buffer, beside = ''): Buffer {
  const compressed = deflateRawSync(bytes, { ...shape, dictionary: dictionaryWith(beside) })
  const isMarked = Object.values<number | undefined>(markers).includes(bytes[0])
  if (compressed.length + 1 >= bytes.length && !isMarked) return bytes
  return Buffer.concat([Buffer.of(beside === '' ? markers.dictionary : markers.dictionaryAndRow), compressed])
}

/** The bytes of a copy, whichever way it was stored. */
export function expandCopy(stored: Buffer, beside = ''): Buffer {
  const [marker] = stored
  if (marker !== markers.dictionary && marker !== markers.dictionaryAndRow) return stored
  const used = dictionaryWith(marker === markers.dictionary ? '' : beside)
  return inflateRawSync(stored.subarray(1), { ...shape, dictionary: used, maxOutputLength: bytesMax })
}
