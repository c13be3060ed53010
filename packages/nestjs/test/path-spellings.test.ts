import type { Leasehold } from '@leasehold/core';
import { InjectLeasehold } from '@leasehold/nestjs';
import { All, Controller, Req, type Type } from '@nestjs/common';
import { expect, test } from 'vitest';
import { pathSpellings } from '../../../test/support/path-spellings.ts';
import { rawExchange } from '../../../test/support/raw.ts';
import { type Platform, platforms, startPair } from './support/apps.ts';

const ran = { holder: 0, other: [] as string[] };

/** Every path below `/maintenance`, as the router of the platform spells that. */
function controllerOf(platform: Platform): Type {
  @Controller('maintenance')
  class EverythingController {
    readonly #leasehold: Leasehold;

    constructor(@InjectLeasehold() leasehold: Leasehold) {
      this.#leasehold = leasehold;
    }

    @All(['', platform === 'express' ? '*path' : '*'])
    run(@Req() request: { readonly url: string }): string {
      if (this.#leasehold.instance.label === 'other') ran.other.push(request.url);
      else ran.holder++;
      return '';
    }
  }
  return EverythingController;
}

test.each(platforms)('no spelling of a path makes Nest on %s run a route of the holder elsewhere', async (platform) => {
  ran.holder = 0;
  const { other } = await startPair(platform, { parts: { controllers: [controllerOf(platform)] } });
  const origin = await other.getUrl();
  for (const path of pathSpellings()) await rawExchange(origin, [`GET ${path} HTTP/1.1`, 'Host: a', 'Connection: close']);
  expect(ran.other).toEqual([]);
  expect(ran.holder).toBeGreaterThan(30);
});
