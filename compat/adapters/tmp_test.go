package adapters
import (_ "github.com/go-co-op/gocron/v2"; _ "k8s.io/client-go/util/workqueue")
