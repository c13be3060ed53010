import { SWITCH } from '../../../../test/support/http/upgrades.ts';
import { type Rig, rig, type RigOptions } from './rig.ts';

/** An application with WebSocket routes of its own behind the proxy. */
export async function withUpgrades(holderOrigin: string | null, options?: RigOptions): Promise<Rig> {
  const built = await rig(holderOrigin, options);
  built.front.server.on('upgrade', (request, socket, head) => {
    if (!built.proxy.handleUpgrade(request, socket, head)) socket.write(SWITCH);
  });
  return built;
}
