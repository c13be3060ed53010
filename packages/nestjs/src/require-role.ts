import { HolderGuard } from '@leasehold/proxy/adapter';
import { applyDecorators, UseGuards } from '@nestjs/common';
import { guardClass } from './guard-class.ts';
import { noteUse } from './named-uses.ts';
import type { RoleName } from './role-names.ts';

/**
 * A guard for a controller or a handler: answers 503 with `Retry-After` where the role is not held.
 *
 * *Gotcha:* it looks once. The role can be lost while the handler runs: what must not happen then belongs behind `whileHeld`
 * or a fence. To have the holder answer instead, see `installRoleHolderProxy`.
 *
 * `app.init` rejects with LEASEHOLD_UNKNOWN_ROLE when the role is not registered.
 */
export function RequireRole(role: RoleName): ClassDecorator & MethodDecorator {
  return applyDecorators(
    (target: object, method?: string | symbol) =>
      noteUse(target, { decorator: 'RequireRole', kind: 'role', name: role, method: method ?? null }),
    UseGuards(guardClass(({ leasehold }) => new HolderGuard(leasehold, role))),
  );
}
