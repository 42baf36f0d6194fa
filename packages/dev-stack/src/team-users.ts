/** The people of the team that a development stack knows: two, because some decisions take two. */
export const teamUsers = ['alice', 'bob'] as const
export type TeamUser = (typeof teamUsers)[number]
