import { LeaseholdError, type Term } from '@leasehold/core';
import { MemoryDatabase, memoryStore } from '@leasehold/core/memory';
import { currentTerm, LeaseholdModule, WhileHeld } from '@leasehold/nestjs';
import type { INestApplication } from '@nestjs/common';
import { Controller, Injectable, Param, Post, SetMetadata } from '@nestjs/common';
import { Cron, Interval, ScheduleModule, SchedulerRegistry, Timeout } from '@nestjs/schedule';
import { describe, expect, test } from 'vitest';
import { createApp, leaseholdOf, leaseOf, type Platform, platforms } from './support/apps.ts';

@Injectable()
class Jobs {
  readonly runs: string[] = [];
  readonly terms: (Term | null)[] = [];

  @Cron('* * * * * *')
  @WhileHeld('maintenance')
  async cronAbove(): Promise<void> {
    this.runs.push('cronAbove');
  }

  @WhileHeld('maintenance')
  @Cron('* * * * * *', { name: 'below' })
  async cronBelow(): Promise<void> {
    this.runs.push('cronBelow');
  }

  @Interval('above', 20)
  @WhileHeld('maintenance')
  async intervalAbove(): Promise<void> {
    this.runs.push('intervalAbove');
  }

  @WhileHeld('maintenance')
  @Interval('below', 20)
  async intervalBelow(): Promise<void> {
    this.runs.push('intervalBelow');
  }

  @WhileHeld('maintenance')
  @Timeout(1)
  async timeout(): Promise<void> {
    this.runs.push('timeout');
  }

  @Interval(10)
  everywhere(): void {
    this.runs.push('everywhere');
  }

  @WhileHeld('maintenance')
  async noteTerm(): Promise<void> {
    await Promise.resolve();
    this.terms.push(currentTerm());
  }

  @WhileHeld('maintenance')
  async fail(): Promise<void> {
    throw new Error('work failed');
  }

  @WhileHeld('maintenance')
  async joined(a: string, b: string): Promise<string | undefined> {
    this.runs.push(a, b);
    return a + b;
  }
}

@Injectable()
class Parent {
  readonly runs: string[] = [];

  @WhileHeld('maintenance')
  async inherited(): Promise<void> {
    this.runs.push('inherited');
  }
}

@Injectable()
class Child extends Parent {
  @WhileHeld('maintenance')
  async own(): Promise<void> {
    this.runs.push('own');
  }
}

@Controller()
class JobController {
  readonly ran: string[] = [];

  @Post('run/:id')
  @WhileHeld('maintenance')
  async run(@Param('id') id: string): Promise<void> {
    this.ran.push(id);
  }
}

interface Copy {
  readonly app: INestApplication;
  readonly jobs: Jobs;
}

async function createJobs(platform: Platform, database = new MemoryDatabase()): Promise<Copy> {
  const forRoot = LeaseholdModule.forRoot({ store: memoryStore({ database }), leaseDuration: '2s', roles: ['maintenance'] });
  const app = await createApp(platform, {
    imports: [forRoot, ScheduleModule.forRoot()],
    providers: [Jobs, Parent, Child],
    controllers: [JobController],
  });
  await app.init();
  return { app, jobs: app.get(Jobs) };
}

const SCHEDULED = ['cronAbove', 'cronBelow', 'intervalAbove', 'intervalBelow', 'timeout'];

describe.each(platforms)('on %s', (platform) => {
  test('@Cron, @Interval and @Timeout run on the holder alone, in whichever order they stand', async () => {
    const database = new MemoryDatabase();
    const holder = await createJobs(platform, database);
    const other = await createJobs(platform, database);
    await expect
      .poll(() => [...new Set(holder.jobs.runs)].sort(), { timeout: 5_000 })
      .toEqual([...SCHEDULED, 'everywhere'].sort());
    // Its own ran all the while, so that the others had their time.
    await expect.poll(() => other.jobs.runs.length).toBeGreaterThan(3);
    expect(new Set(other.jobs.runs)).toEqual(new Set(['everywhere']));
    expect(other.app.get(SchedulerRegistry).getIntervals()).toContain('below');
    expect(other.app.get(SchedulerRegistry).getCronJobs().has('below')).toBe(true);

    await holder.app.close();
    await expect.poll(() => new Set(other.jobs.runs).has('intervalBelow'), { timeout: 5_000 }).toBe(true);
  });

  test('a handler keeps its route and parameters, and its call is skipped elsewhere', async () => {
    const database = new MemoryDatabase();
    const holder = await createJobs(platform, database);
    const other = await createJobs(platform, database);
    for (const { app } of [holder, other]) {
      await app.listen(0, '127.0.0.1');
      expect((await fetch(`${await app.getUrl()}/run/7`, { method: 'POST' })).status).toBe(201);
    }
    expect(holder.app.get(JobController).ran).toEqual(['7']);
    expect(other.app.get(JobController).ran).toEqual([]);
  });
});

describe('a call', () => {
  test('runs under the term of the lease, which is seen in it and not outside', async () => {
    const { app, jobs } = await createJobs('express');
    await jobs.noteTerm();
    expect(jobs.terms.map((term) => term?.fencingToken)).toEqual([leaseOf(app).fencingToken]);
    expect(jobs.terms[0]?.signal.aborted).toBe(false);
    expect(currentTerm()).toBe(null);
  });

  test('passes its arguments, its answer, and what it throws', async () => {
    const { jobs } = await createJobs('express');
    expect(await jobs.joined('first', 'second')).toBe('firstsecond');
    expect(jobs.runs).toEqual(expect.arrayContaining(['first', 'second']));
    await expect(jobs.fail()).rejects.toThrow('work failed');
  });

  test('that is skipped answers undefined, and nothing of it runs', async () => {
    const { app, jobs } = await createJobs('express');
    await leaseOf(app).stepDown({ standAside: 'until-told' });
    expect(await jobs.joined('first', 'second')).toBe(undefined);
    expect(await jobs.fail()).toBe(undefined);
    expect(jobs.runs).not.toContain('first');
  });

  test('works in a class that extends another', async () => {
    const { app } = await createJobs('express');
    await app.get(Child).own();
    await app.get(Child).inherited();
    await app.get(Parent).inherited();
    expect([app.get(Child).runs, app.get(Parent).runs]).toEqual([['own', 'inherited'], ['inherited']]);
  });

  test('on an object that Nest did not make: the message says what to do', async () => {
    const error: unknown = await new Jobs().fail().catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(LeaseholdError);
    expect(error).toMatchObject({ code: 'LEASEHOLD_NOT_REGISTERED', role: 'maintenance' });
    expect(String(error)).toContain('Provide the class itself');
  });

  test('close() waits for a run that has begun', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const events: string[] = [];
    class Slow {
      @WhileHeld('maintenance')
      async run(): Promise<void> {
        await promise;
        events.push('done');
      }
    }
    const forRoot = LeaseholdModule.forRoot({ store: memoryStore(), roles: ['maintenance'] });
    const app = await createApp('express', { imports: [forRoot], providers: [Slow] });
    await app.init();
    const running = app.get(Slow).run();
    const closing = app.close().then(() => events.push('closed'));
    await expect.poll(() => leaseOf(app).isHeld).toBe(false);
    resolve();
    await Promise.all([running, closing]);
    expect(events).toEqual(['done', 'closed']);
  });
});

test('the method keeps its name, its length and what others have noted on it', () => {
  class Noted {
    @SetMetadata('above', 1)
    @WhileHeld('maintenance')
    @SetMetadata('below', 2)
    async method(a: number, b: number): Promise<void> {
      void [a, b];
    }
  }
  const { method } = Noted.prototype;
  expect([method.name, method.length]).toEqual(['method', 2]);
  expect([Reflect.getMetadata('above', method), Reflect.getMetadata('below', method)]).toEqual([1, 2]);
});

describe('of a partition', () => {
  @Injectable()
  class Poller {
    readonly polled: string[] = [];
    readonly terms: (Term | null)[] = [];

    @WhileHeld('devices', (id: string) => id)
    async poll(id: string, times: number): Promise<string | undefined> {
      this.polled.push(id);
      this.terms.push(currentTerm());
      return id.repeat(times);
    }

    @WhileHeld('devices', (id: string) => id, { scope: 'Order' })
    async order(id: string): Promise<void> {
      this.polled.push(`order ${id}`);
    }

    @WhileHeld('devices', ({ id }: { readonly id?: string }) => id as string)
    async keyless(device: { readonly id?: string }): Promise<void> {
      void device;
    }
  }

  test('runs where the role of the key is held, under its term', async () => {
    const forRoot = LeaseholdModule.forRoot({ store: memoryStore(), partitions: { devices: { count: 4 } } });
    const app = await createApp('express', { imports: [forRoot], providers: [Poller] });
    await app.init();
    const poller = app.get(Poller);
    const devices = leaseholdOf(app).getPartition('devices');
    await expect.poll(() => devices.partitions.every(({ isHeld }) => isHeld)).toBe(true);
    expect(await poller.poll('7', 2)).toBe('77');
    expect(poller.terms[0]?.role).toBe(devices.resolve('7').role);
    await devices.resolve('7').stepDown({ standAside: 'until-told' });
    const held = ['1', '2', '3', '4', '5', '6', '7', '8'].filter((id) => devices.isHeld(id));
    poller.polled.length = 0;
    for (const id of ['1', '2', '3', '4', '5', '6', '7', '8']) {
      expect(await poller.poll(id, 1)).toBe(held.includes(id) ? id : undefined);
    }
    expect(poller.polled).toEqual(held);
    await devices.resolve('Order', '1').stepDown({ standAside: 'until-told' });
    await poller.order('1');
    expect(poller.polled).toEqual(held);
  });

  test('rejects a call without a key', async () => {
    const forRoot = LeaseholdModule.forRoot({ store: memoryStore(), partitions: { devices: { count: 4 } } });
    const app = await createApp('express', { imports: [forRoot], providers: [Poller] });
    await app.init();
    await expect(app.get(Poller).keyless({})).rejects.toMatchObject({ code: 'LEASEHOLD_INVALID_AFFINITY_KEY' });
  });

  test('what is no function, and a misspelt option, are refused when the class is defined', () => {
    const refused = (option: string): unknown => expect.objectContaining({ code: 'LEASEHOLD_INVALID_OPTION', option });
    expect(() => WhileHeld('devices', 'id' as never)).toThrow(refused('affinityKey'));
    expect(() => WhileHeld('devices', () => 'id', { scop: 'Order' } as never)).toThrow(refused('scop'));
  });
});
