// Package outbox sets durable timers in a database transaction: the timer that cancels an order is set if and only if
// the transaction that creates the order is committed.
//
//	box, err := outbox.New(outbox.Config[string, Order]{DB: db, Dialect: postgres.Dialect()})
//	err = box.Create(ctx) // the tables
//	go box.Relay(ctx, timers)
//
//	tx, err := db.BeginTx(ctx, nil)
//	_, err = tx.ExecContext(ctx, "INSERT INTO orders …")
//	err = box.Set(ctx, tx, order.ID, order, 30*time.Minute)
//	err = tx.Commit()
//
// Set and the like insert a row into a table of the same database. A relay passes the rows to a durable.Keyed, and
// deletes those that it has acknowledged. Every process may run a relay; one at a time is active.
//
// # Promises
//
//   - What was committed reaches the timers, whatever is killed and when. What was rolled back never does.
//   - Operations on a key reach the timers in the order in which their transactions were committed. On PostgreSQL, a
//     second transaction with an operation on the same key waits until the first has ended, as with a row that both
//     update.
//   - At least once: if the relay is killed between the acknowledgement and the deletion of a row, the row is passed
//     on again. A Set that is passed on twice makes another timer, with another durable.ID. So a handler should
//     recognize by the key or by the value what it has done already.
//
// A row that the timers do not accept, because its partition is full, damaged or does not answer, waits in the table and
// says why. Later rows of its key wait, too; all others go on. Box.Relay describes the columns.
//
// Operations on a key that bypass the outbox, by the Keyed itself, have no order with those that are still in it.
package outbox
