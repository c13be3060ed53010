import { describe, expect, it } from 'vitest';
import { SCENARIOS } from '../../src/proxy/answers.ts';
import { PEERS, targetFor } from '../../src/proxy/contestants.ts';
import { medianFigure, mergeSlots, ratiosOf, toSlot } from '../../src/proxy/ratios.ts';

const slot = (perCpuSecond: number, perSecond: number): ReturnType<typeof toSlot> => ({
  requestsPerCpuSecond: perCpuSecond,
  requestsPerSecond: perSecond,
});

describe('a slot', () => {
  it('is what was done between two readings, by CPU time and by the clock', () => {
    const before = { requests: 100, cpuMs: 1_000, atMs: 5_000 };
    expect(toSlot(before, { requests: 2_100, cpuMs: 1_100, atMs: 5_400 })).toEqual(slot(20_000, 5_000));
  });
});

describe('ratios', () => {
  it('are of the same round', () => {
    const ours = [slot(30, 3), slot(20, 2)];
    const peer = [slot(10, 1), slot(20, 4)];
    expect(ratiosOf(ours, peer, 'requestsPerCpuSecond')).toEqual([3, 1]);
    expect(ratiosOf(ours, peer, 'requestsPerSecond')).toEqual([3, 0.5]);
  });

  it('of a peer that was not measured meet no target', () => {
    expect(medianFigure('x', ratiosOf([slot(1, 1)], [], 'requestsPerSecond'), 'x', '>= 1').ok).toBe(false);
    expect(medianFigure('x', [], 'x', '>= 1').ok).toBe(false);
  });
});

describe('slots of several generations', () => {
  it('are one after the other, for each contestant', () => {
    const [first, second] = [slot(1, 1), slot(2, 2)];
    expect(mergeSlots({ a: [first], b: [second] }, { a: [second], b: [first] })).toEqual({
      a: [first, second],
      b: [second, first],
    });
    expect(mergeSlots({}, { a: [first] })).toEqual({ a: [first] });
  });
});

describe('a figure of ratios', () => {
  it('is their median, and says the lowest and the highest', () => {
    expect(medianFigure('x', [1.4, 1.1, 1.3], 'x', '>= 1.2')).toEqual({
      name: 'x',
      value: 1.3,
      unit: 'x',
      target: '>= 1.2',
      ok: true,
      lowest: 1.1,
      highest: 1.4,
    });
  });

  it('is not saved by one good round', () => {
    expect(medianFigure('x', [1.1, 1.1, 9], 'x', '>= 1.2').ok).toBe(false);
  });
});

describe('targets', () => {
  const targetOf = (peer: string, scenario: string): string | null => {
    const [foundPeer, foundScenario] = [PEERS.find(({ name }) => name === peer), SCENARIOS.find(({ name }) => name === scenario)];
    if (foundPeer === undefined || foundScenario === undefined) throw new Error(`no ${peer} or ${scenario}`);
    return targetFor(foundPeer, foundScenario);
  };

  it.each([
    ['httpxy', '>= 1.2'],
    ['httpProxy3', '>= 2.5'],
    ['httpProxy3Agent', '>= 1.3'],
    ['fastifyHttpProxy', '>= 1.3'],
    ['bareRelay', '>= 0.9'],
  ])('%s has to be beaten in both GETs, and POST has no target', (peer, target) => {
    expect([targetOf(peer, 'smallGet'), targetOf(peer, 'largeGet'), targetOf(peer, 'post')]).toEqual([target, target, null]);
  });

  it('the noise of the run is no target', () => {
    expect(targetOf('leaseholdAgain', 'smallGet')).toBeNull();
  });
});
