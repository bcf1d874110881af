package main

// few is a number of entries that leaves most slots of a wheel of seconds empty.
const few = 10_000

// The ways in which the messages of a store live, as benchmarks name them.
const (
	secondBySecond = "/due=hour/step=second"
	allAtOnce      = "/due=hour/step=all"
	ordered        = "/due=ordered/step=second"
	inADay         = "/due=day/step=second"
)

// The implementations that are compared in benchmarks of lives. The implementation of the other project comes first.
// Face is a Driven with the API of thw.
var (
	storeLives = []string{"thw", "driven", "face"}
	leaseLives = []string{"etcd", "driven"}
	cacheLives = []string{"otter", "driven"}
)

// lifeJobs returns the jobs that compare Driven with the structures by which others expire their entries.
func (p plan) lifeJobs() (jobs []job) {
	add := func(benchtime, family string, impls []string, way string, n int) {
		for _, impl := range impls {
			jobs = append(jobs, job{benchmark{family, impl + way, n}, true, benchtime})
		}
	}
	add(p.time, "StoreAdd", storeLives, "", p.lives)
	add(p.time, "StoreUpdate", storeLives, "", p.lives)
	for _, way := range []string{secondBySecond, allAtOnce, ordered, inADay} {
		add(once, "StoreLife", storeLives, way, p.lives)
	}
	add(once, "StoreLife", storeLives, secondBySecond, few)
	add(p.time, "LeaseRenew", leaseLives, "", p.lives)
	add(once, "LeaseLife", leaseLives, "", p.lives)
	add(once, "CacheLife", cacheLives, "", p.lives)
	return jobs
}
