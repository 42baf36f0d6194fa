// Go 1.19 or newer; no modules needed.
//
//	WEBHOOK_SECRET=… PORT=3000 go run receive_webhook.go
//
// The next line lets this program lie in one folder with others: "go run" of a named file does not mind it.

//go:build ignore

package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

const toleranceSeconds = 300
const bodyBytesMax = 1 << 20

var secret = os.Getenv("WEBHOOK_SECRET")
var wholeSeconds = regexp.MustCompile(`^[0-9]{1,12}$`)
var word = regexp.MustCompile(`^\w+$`)
var eventsFolder = setting("EVENTS_FOLDER", "webhook-events")
var lock sync.Mutex

type event struct{ ID, Type string }

func setting(name, otherwise string) string {
	if value := os.Getenv(name); value != "" {
		return value
	}
	return otherwise
}

func isGenuine(timestamp string, rawBody []byte, signature string) bool {
	sent, err := strconv.ParseInt(timestamp, 10, 64)
	now := time.Now().Unix()
	if err != nil || !wholeSeconds.MatchString(timestamp) || sent < now-toleranceSeconds || sent > now+toleranceSeconds {
		return false
	}
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(timestamp + "."))
	mac.Write(rawBody)
	return hmac.Equal([]byte(hex.EncodeToString(mac.Sum(nil))), []byte(signature))
}

// Keeps the event, once. Here it is a file, in your server a row of a table whose key is the id. It tells whether the
// event is new. An error means that it cannot be kept: then it must not be acknowledged.
func store(id string, rawBody []byte) (bool, error) {
	if !word.MatchString(id) {
		return false, errors.New("an event without an id")
	}
	file := filepath.Join(eventsFolder, id)
	lock.Lock()
	defer lock.Unlock()
	for _, state := range []string{".waiting", ".done"} {
		if _, err := os.Stat(file + state); err == nil {
			return false, nil
		}
	}
	// Under another name until it is whole: the worker must not read half an event.
	if err := os.WriteFile(file+".new", rawBody, 0o600); err != nil {
		return false, err
	}
	return true, os.Rename(file+".new", file+".waiting")
}

// Does the work for what is stored, after the reply, and after a restart for what was left.
func work() error {
	files, err := filepath.Glob(filepath.Join(eventsFolder, "*.waiting"))
	if err != nil {
		return err
	}
	for _, file := range files {
		rawBody, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		var waiting event
		if err := json.Unmarshal(rawBody, &waiting); err != nil {
			return err
		}
		// Your work stands here. It comes twice when the program ends before the rename.
		fmt.Println("worked on", waiting.Type, waiting.ID)
		if err := os.Rename(file, strings.TrimSuffix(file, "waiting")+"done"); err != nil {
			return err
		}
	}
	return nil
}

func workForEver() {
	for {
		if err := work(); err != nil {
			log.Print(err)
		}
		time.Sleep(time.Second)
	}
}

func receive(response http.ResponseWriter, request *http.Request) {
	// The bytes as received: a parsed and re-serialised body has another signature.
	rawBody, err := io.ReadAll(http.MaxBytesReader(response, request.Body, bodyBytesMax))
	if err != nil {
		response.WriteHeader(http.StatusRequestEntityTooLarge)
		return
	}
	if !isGenuine(request.Header.Get("X-Webhook-Timestamp"), rawBody, request.Header.Get("X-Webhook-Signature")) {
		fmt.Println("refused: wrong signature, or a timestamp more than 5 minutes off")
		response.WriteHeader(http.StatusUnauthorized)
		return
	}
	var received event
	err = json.Unmarshal(rawBody, &received)
	isNew := false
	if err == nil {
		// Delivery is at least once. The id in the body is signed, the one in the header is not.
		isNew, err = store(received.ID, rawBody)
	}
	if err != nil {
		log.Print(err)
		// It is not kept: the delivery is made again.
		response.WriteHeader(http.StatusInternalServerError)
		return
	}
	// It is kept, so it may be acknowledged. The worker does the rest.
	response.WriteHeader(http.StatusOK)
	if isNew {
		fmt.Println("received", received.Type, received.ID)
	} else {
		fmt.Printf("ignored %s: received before\n", received.ID)
	}
}

func main() {
	port := setting("PORT", "3000")
	if secret == "" {
		fmt.Fprintln(os.Stderr, "usage: WEBHOOK_SECRET=... PORT=3000 go run receive_webhook.go")
		os.Exit(2)
	}
	if err := os.MkdirAll(eventsFolder, 0o700); err != nil {
		log.Fatal(err)
	}
	go workForEver()
	fmt.Printf("listening on http://127.0.0.1:%s/webhooks\n", port)
	log.Fatal(http.ListenAndServe("127.0.0.1:"+port, http.HandlerFunc(receive)))
}
