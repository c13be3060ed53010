import type { Leasehold } from '@leasehold/core';
import { InjectLeasehold } from '@leasehold/nestjs';
import { Body, Controller, Get, type MessageEvent, Post, Sse } from '@nestjs/common';
import { interval, map, type Observable } from 'rxjs';

export interface Who {
  readonly by: string;
}

/** Says which copy ran it. */
@Controller()
export class WhoController {
  readonly #leasehold: Leasehold;

  constructor(@InjectLeasehold() leasehold: Leasehold) {
    this.#leasehold = leasehold;
  }

  @Get(['who', 'maintenance/who'])
  who(): Who {
    return { by: this.#leasehold.instance.label };
  }

  @Post(['echo', 'maintenance/echo'])
  echo(@Body() body: unknown): { by: string; body: unknown } {
    return { by: this.#leasehold.instance.label, body };
  }

  @Sse('maintenance/events')
  events(): Observable<MessageEvent> {
    return interval(20).pipe(map(() => ({ data: this.#leasehold.instance.label })));
  }
}
