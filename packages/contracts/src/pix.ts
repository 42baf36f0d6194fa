import { isCpf } from './formats.ts'

const brazilianPhone = /^(?:(?:\+|00)?55)?0?([1-9]\d(?:9\d{8}|[2-5]\d{7}))$/

/** The types of Pix keys, as the central bank's directory has them. */
export type PixKeyType = 'email' | 'cpf' | 'cnpj' | 'phone' | 'random'

/**
 * A Pix key in the form in which the central bank's directory has it: e-mail, CPF, CNPJ, phone in E.164 or a random key
 * (EVP, without its hyphens). Digits alone are a CPF where the check digits are right.
 * @param seen as `asSeen` makes it of a destination
 * @returns null when it is none of them
 */
export function pixKey(seen: string): { readonly type: PixKeyType; readonly key: string } | null {
  if (seen.includes('@')) return { type: 'email', key: seen.replaceAll(' ', '') }
  const bare = seen.replaceAll(/[^\p{L}\p{N}+]/gu, '')
  if (isCpf(bare)) return { type: 'cpf', key: bare }
  if (isCnpj(bare)) return { type: 'cnpj', key: bare }
  const [, national] = brazilianPhone.exec(bare) ?? []
  if (national !== undefined) return { type: 'phone', key: `+55${national}` }
  const [, international] = /^(?:\+|00)(\d{8,15})$/.exec(bare) ?? []
  if (international !== undefined) return { type: 'phone', key: `+${international}` }
  return /^[\da-f]{32}$/.test(bare) ? { type: 'random', key: bare } : null
}

/** A number of the register of companies. Since 2026 its first twelve places may be letters, each worth its ASCII code less 48. */
function isCnpj(bare: string): boolean {
  if (!/^[\da-z]{12}\d{2}$/.test(bare) || /^(\d)\1{13}$/.test(bare)) return false
  const values = [...bare.toUpperCase()].map((character) => character.charCodeAt(0) - 48)
  return [12, 13].every((place) => {
    const sum = values.slice(0, place).reduce((total, value, at) => total + value * (2 + ((place - 1 - at) % 8)), 0)
    return values[place] === (sum % 11 < 2 ? 0 : 11 - (sum % 11))
  })
}
