import { beforeEach, describe, type TestAPI, test } from 'vitest';
import type { Host } from './host.ts';
import { hosts } from './hosts/index.ts';
import { LeakWatch } from './leaks.ts';
import { partitionRigOn, rigOn, type StartPartitionRig, type StartRig } from './rig.ts';

export interface Tools {
  readonly host: Host;
  readonly rig: StartRig;
  readonly partitionRig: StartPartitionRig;
}

/** Defines the cases once for each host. A case that passes and leaves a connection, a request or a listener behind fails. */
export function onEveryHost(define: (tools: Tools) => void): void {
  describe.for(hosts.map((host) => [host.name, host] as const))('%s', ([, host]) => {
    let watch: LeakWatch;
    beforeEach(() => void (watch = new LeakWatch()));
    const current = (): LeakWatch => watch;
    define({ host, rig: rigOn(host, current), partitionRig: partitionRigOn(host, current) });
  });
}

/** `test`, unless there is a reason why this host cannot be asked. */
export function unless(reason: string | null): TestAPI {
  return (reason === null ? test : test.skip) as TestAPI;
}
