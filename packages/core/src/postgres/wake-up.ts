/** Roles named in a notification; null when it is our own. Anybody can send one, so nothing in it is believed but names. */
export function readWakeUp(payload: string, self: string): readonly string[] | 'all' | null {
  try {
    const { by, roles } = JSON.parse(payload) as { by?: unknown; roles?: unknown };
    if (by === self) return null;
    return Array.isArray(roles) ? roles.filter((role) => typeof role === 'string') : 'all';
  } catch {
    return 'all';
  }
}
